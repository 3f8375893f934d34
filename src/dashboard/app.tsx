// The frame of the page: header, navigation, the state of the line, and the page that the address names.
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { LiveRuntime } from '../core/dashboard/model.js'
import { type LineState, openLine } from './connection.js'
import { ageText } from './format.js'
import { pages, parseRoute, type Route, titles } from './route.js'
import { createStore, type Picture, type Store } from './store.js'
import { ThemeButton } from './theme.js'
import { ConfigView } from './views/config.js'
import { DoctorView } from './views/doctor.js'
import { DriverView } from './views/driver.js'
import { MetricsView } from './views/metrics.js'
import { Overview } from './views/overview.js'
import { PodView } from './views/pod.js'
import { RpcView } from './views/rpcs.js'
import { TreeView } from './views/tree.js'

function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const follow = (): void => {
      setRoute(parseRoute(location.hash))
      scrollTo(0, 0)
    }
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return route
}

/** A tick a second, so that ages go on while nothing arrives. */
function useNow(): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}

export function App() {
  const store = useMemo(createStore, [])
  const [line, setLine] = useState<LineState>('connecting')
  const [, changed] = useReducer((n: number) => n + 1, 0)
  const route = useRoute()
  const now = useNow()
  useEffect(() => {
    const open = openLine(setLine, (change) => {
      store.apply(change)
      changed(undefined)
    })
    return () => open.close()
  }, [store])
  const { picture } = store
  useEffect(() => {
    const where = route.page === 'pod' ? route.name : titles[route.page]
    document.title = picture === undefined ? 'Keelson' : `${where} · ${picture.node.name} · Keelson`
  }, [route, picture?.node.name])
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header picture={picture} line={line} route={route} now={now} />
      <main id="main" tabIndex={-1}>
        <LineBanner line={line} picture={picture} now={now} />
        {picture === undefined ? (
          <p class="empty">{line === 'connecting' ? 'Reading the node …' : 'No data yet.'}</p>
        ) : (
          <PageView route={route} picture={picture} store={store} now={now} />
        )}
      </main>
      <footer>
        {picture !== undefined && (
          <>
            Keelson {picture.server.version}, {picture.server.process} · updates every{' '}
            {picture.server.periodMs / 1000} s while open · no external resources
          </>
        )}
      </footer>
    </>
  )
}

interface FrameProps {
  readonly picture: Picture | undefined
  readonly line: LineState
  readonly now: number
}

const lineWords: Readonly<Record<LineState, string>> = {
  connecting: 'connecting',
  live: 'live',
  away: 'server unreachable',
  login: 'logged out',
  forbidden: 'not allowed',
}

function Header({ picture, line, route }: FrameProps & { readonly route: Route }) {
  const warnings =
    picture !== undefined && 'data' in picture.warnings
      ? picture.warnings.data.filter((w) => w.severity !== 'info').length
      : 0
  const tabs = useRef<HTMLUListElement>(null)
  // On a phone the row of pages is wider than the screen.
  useEffect(() => {
    tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [route.page])
  return (
    <header>
      <div class="brand">
        <img src="/dashboard/icon.svg" alt="" width="28" height="28" />
        <a href="#/overview" class="product">
          Keelson
        </a>
        {picture !== undefined && (
          <span class="where">
            <strong>{picture.node.name}</strong> <span class="chip">{picture.server.process}</span>
          </span>
        )}
        <span class="space" />
        <output class={`line line-${line}`}>{lineWords[line]}</output>
        <ThemeButton />
      </div>
      <nav aria-label="Pages">
        <ul ref={tabs}>
          {pages.map((page) => (
            <li key={page}>
              <a href={`#/${page}`} {...(isHere(route, page) ? { 'aria-current': 'page' as const } : {})}>
                {titles[page]}
                {page === 'doctor' && warnings > 0 && (
                  <span class="badge">
                    {warnings}
                    <span class="unseen"> warnings</span>
                  </span>
                )}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  )
}

const isHere = (route: Route, page: string): boolean =>
  route.page === page || (route.page === 'pod' && page === 'overview')

function LineBanner({ line, picture, now }: FrameProps) {
  if (line === 'live' || line === 'connecting') {
    if (picture?.runtime.state === 'away') return <RuntimeBanner runtime={picture.runtime} />
    return null
  }
  const age = picture === undefined ? '' : ` This data is ${ageText(picture.time, now)} old.`
  if (line === 'away')
    return (
      <div class="banner watch" role="alert">
        <strong>The server does not respond.</strong> Retrying every second.{age}
      </div>
    )
  return (
    <div class="banner act" role="alert">
      <strong>
        {line === 'login' ? 'Your session has expired.' : 'You are not allowed to see this page.'}
      </strong>
      {line === 'login' ? (
        <>
          {' '}
          On the node, run <code>keelson dashboard {location.origin}</code> and open the printed link.
          {age}
        </>
      ) : (
        ' It needs permission to get nodes/proxy.'
      )}
    </div>
  )
}

function RuntimeBanner({ runtime }: { readonly runtime: LiveRuntime }) {
  return (
    <div class="banner watch" role="alert">
      {runtime.listAgeSeconds === null ? (
        <>
          <strong>The container runtime has not responded yet.</strong> The running pods are unknown.
        </>
      ) : (
        <>
          <strong>The container runtime does not respond.</strong> The list of pods is{' '}
          {runtime.listAgeSeconds} s old; values are read from cgroups.
        </>
      )}
      <div class="detail">{runtime.problem}</div>
    </div>
  )
}

interface PageProps {
  readonly route: Route
  readonly picture: Picture
  readonly store: Store
  readonly now: number
}

function PageView({ route, picture, store, now }: PageProps) {
  switch (route.page) {
    case 'overview':
      return <Overview picture={picture} history={store.history} now={now} />
    case 'pod':
      return <PodView picture={picture} history={store.history} now={now} {...route} />
    case 'tree':
      return <TreeView cgroups={picture.cgroups} />
    case 'driver':
      return <DriverView driver={picture.driver} node={picture.node} runtime={picture.runtime} />
    case 'metrics':
      return <MetricsView sources={picture.sources} pods={picture.pods} runtime={picture.runtime} />
    case 'rpcs':
      return <RpcView rpcs={picture.rpcs} />
    case 'config':
      return <ConfigView config={picture.config} />
    case 'doctor':
      return <DoctorView warnings={picture.warnings} />
  }
}
