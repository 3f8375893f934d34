// The RPCs that do more than pass through. Everything else goes by unread.
import type { CriMethod } from './method.js'

export const methods: readonly CriMethod[] = []
