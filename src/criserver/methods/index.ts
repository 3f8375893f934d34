// The RPCs that do more than pass through. Everything else goes by unread.
import type { CriMethod } from './method.js'
import { runtimeConfig } from './runtime-config.js'
import { status } from './status.js'

export const methods: readonly CriMethod[] = [runtimeConfig, status]
