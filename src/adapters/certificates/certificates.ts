// Keys, requests and files of certificates, put together.
import type { Certificates } from '../../ports/certificates.js'
import { describeCertificate } from './describe.js'
import { createPairStore } from './pair-store.js'
import { createRequest, isRequestOf, keyType, newKey, requestName } from './signing-request.js'

export const createCertificates = (): Certificates => ({
  newKey,
  keyType,
  createRequest,
  requestName,
  isRequestOf,
  describe: describeCertificate,
  openStore: (directory, prefix) => createPairStore(directory, prefix),
})
