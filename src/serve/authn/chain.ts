// The authenticators in order: the first that knows the caller wins. A credential that was shown and refused never
// turns into an anonymous caller, but for tokens where the configuration asks for it.
import { asKeelsonError } from '../../core/errors.js'
import { type Authenticator, absent, anonymousUser, refused, type Verdict } from './authenticator.js'

interface ChainOptions {
  /** A request without credentials is anonymous. */
  readonly anonymous: boolean
  /** A bearer token that no authenticator knows counts as nothing shown. */
  readonly ignoresUnknownTokens: boolean
}

export const chain = (
  authenticators: readonly Authenticator[],
  { anonymous, ignoresUnknownTokens }: ChainOptions,
): Authenticator => ({
  name: 'chain',
  async authenticate(credentials, signal) {
    const reasons: string[] = []
    for (const authenticator of authenticators) {
      const verdict = await ask(authenticator, credentials, signal)
      if (verdict.kind === 'user') return verdict
      if (verdict.kind === 'refused') reasons.push(verdict.reason)
    }
    if (reasons.length > 0) return refused(reasons.join('; '))
    const showedToken = credentials.bearer !== undefined && !ignoresUnknownTokens
    const showedSomething = showedToken || credentials.session !== undefined
    if (showedSomething) return refused('no authenticator accepts this credential')
    return anonymous ? { kind: 'user', user: anonymousUser } : absent
  },
})

async function ask(
  ...[authenticator, credentials, signal]: [Authenticator, ...AskArguments]
): Promise<Verdict> {
  try {
    return await authenticator.authenticate(credentials, signal)
  } catch (e) {
    return refused(`${authenticator.name}: ${asKeelsonError(e).message}`)
  }
}

type AskArguments = Parameters<Authenticator['authenticate']>
