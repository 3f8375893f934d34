// Which page is shown, kept in the fragment of the address: links work, and going back works.

export const pages = ['overview', 'tree', 'driver', 'metrics', 'rpcs', 'config', 'doctor'] as const
type Page = (typeof pages)[number]

export type Route =
  | { readonly page: Page }
  | { readonly page: 'pod'; readonly namespace: string; readonly name: string }

export const titles: Readonly<Record<Page, string>> = {
  overview: 'Overview',
  tree: 'Cgroup tree',
  driver: 'Driver',
  metrics: 'Metrics',
  rpcs: 'CRI calls',
  config: 'Config',
  doctor: 'Doctor',
}

/** The user may have typed it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function parseRoute(fragment: string): Route {
  const [page = '', namespace, name] = fragment.replace(/^#\/?/, '').split('/').map(decoded)
  if (page === 'pod' && namespace !== undefined && name !== undefined) return { page: 'pod', namespace, name }
  return { page: pages.find((p) => p === page) ?? 'overview' }
}

export const podLink = (pod: { readonly namespace: string; readonly name: string }): string =>
  `#/pod/${encodeURIComponent(pod.namespace)}/${encodeURIComponent(pod.name)}`
