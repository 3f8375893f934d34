// One log record as the line that Kubernetes components print:
// `W0131 15:04:05.000000    1234 keelson] "cgroup driver overruled" from="file" to="runtime"`.

const letters: Readonly<Record<string, string>> = { debug: 'D', info: 'I', warn: 'W', error: 'E' }

const two = (n: number): string => String(n).padStart(2, '0')

function formatTime(iso: string): string {
  const t = new Date(iso)
  const clock = `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`
  return `${two(t.getMonth() + 1)}${two(t.getDate())} ${clock}.${String(t.getMilliseconds()).padStart(3, '0')}000`
}

/** Strings are quoted as JSON, so a line break in a value stays inside its line. */
const formatValue = (value: unknown): string => JSON.stringify(value) ?? 'undefined'

export function formatKlogLine(record: Readonly<Record<string, unknown>>, pid: number): string {
  const { level, time, msg, ...fields } = record
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${formatValue(value)}`)
  const letter = letters[String(level)] ?? 'I'
  const head = `${letter}${formatTime(String(time))} ${String(pid).padStart(7)} keelson]`
  return `${head} ${formatValue(msg ?? '')}${pairs.join('')}\n`
}
