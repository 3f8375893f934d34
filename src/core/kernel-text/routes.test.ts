import { expect, test } from 'vitest'
import { parseDefaultRoutes, parseDefaultRoutes6 } from './routes.js'

test('/proc/net/route: default routes by metric, without those that are down', () => {
  const text = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
wlan0	00000000	0101A8C0	0003	0	0	600	00000000	0	0	0
eth0	00000000	0100000A	0003	0	0	100	00000000	0	0	0
eth1	00000000	0100000A	0002	0	0	1	00000000	0	0	0
eth0	0000000A	00000000	0001	0	0	100	00FFFFFF	0	0	0
`
  expect(parseDefaultRoutes(text)).toEqual(['eth0', 'wlan0'])
  expect(parseDefaultRoutes('')).toEqual([])
})

test('/proc/net/ipv6_route: the unreachable route of every kernel is none', () => {
  const zeros = '00000000000000000000000000000000'
  const text = `${zeros} 00 ${zeros} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0
${zeros} 00 ${zeros} 00 ${zeros} ffffffff 00000001 00000000 00200200       lo
fe800000000000000000000000000000 40 ${zeros} 00 ${zeros} 00000100 00000001 00000000 00000001     eth0
`
  expect(parseDefaultRoutes6(text)).toEqual(['eth0'])
})
