// Keys, requests and files of certificates, put together.
import type { Certificates } from '../../ports/certificates.js'
import { describeCertificate } from './describe.js'
import { keyType, newKey, requestName } from './keys.js'
import { createPairStore } from './pair-store.js'

const loadRequests = () => import('./signing-request.js')

export const createCertificates = (): Certificates => ({
  newKey,
  keyType,
  createRequest: async (...args) => (await loadRequests()).createRequest(...args),
  requestName,
  isRequestOf: async (...args) => (await loadRequests()).isRequestOf(...args),
  describe: describeCertificate,
  openStore: (directory, prefix) => createPairStore(directory, prefix),
})
