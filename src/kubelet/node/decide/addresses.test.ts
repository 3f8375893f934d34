import { expect, test } from 'vitest'
import { type AddressFacts, decideAddresses } from './addresses.js'
import { ipFamily, isSameIp, nodeIpProblem } from './ip-address.js'

const facts: AddressFacts = {
  hostname: 'n1',
  nodeIps: [],
  isCloudExternal: false,
  ownAddresses: ['127.0.0.1', '10.0.0.7', 'fd00::7', '192.168.1.7', '169.254.1.1'],
  resolved: [],
  routed: ['10.0.0.7', 'fd00::7'],
  known: [],
}
const internal = (...ips: string[]) => [
  ...ips.map((address) => ({ type: 'InternalIP', address })),
  { type: 'Hostname', address: 'n1' },
]

for (const { name, given, says } of [
  { name: 'the interface of the default route', given: {}, says: internal('10.0.0.7') },
  { name: 'IPv6 with --node-ip ::', given: { nodeIps: ['::'] }, says: internal('fd00::7') },
  {
    name: 'what DNS says, if it is of this host',
    given: { resolved: ['8.8.8.8', '127.0.0.1', '192.168.1.7'] },
    says: internal('192.168.1.7'),
  },
  { name: 'the given one', given: { nodeIps: ['192.168.1.7'] }, says: internal('192.168.1.7') },
  {
    name: 'two families',
    given: { nodeIps: ['10.0.0.7', 'fd00:0::7'] },
    says: internal('10.0.0.7', 'fd00:0::7'),
  },
  {
    name: 'a name that is an address',
    given: { hostname: '192.168.1.7' },
    says: [
      { type: 'InternalIP', address: '192.168.1.7' },
      { type: 'Hostname', address: '192.168.1.7' },
    ],
  },
  { name: 'a cloud controller is waited for', given: { isCloudExternal: true }, says: internal() },
  {
    name: 'what a cloud controller wrote stays',
    given: { isCloudExternal: true, known: [{ type: 'ExternalIP', address: '1.2.3.4' }] },
    says: [{ type: 'ExternalIP', address: '1.2.3.4' }],
  },
])
  test(`addresses: ${name}`, () => {
    expect(decideAddresses({ ...facts, ...given })).toMatchObject({ addresses: says })
  })

test('a given address for a cloud controller is in the annotation too', () => {
  expect(
    decideAddresses({ ...facts, isCloudExternal: true, nodeIps: ['10.0.0.7', 'fd00::7'] }),
  ).toMatchObject({
    providedIp: '10.0.0.7,fd00::7',
  })
})

for (const { ip, says } of [
  { ip: '10.0.0.8', says: "not found in the host's network interfaces" },
  { ip: '127.0.0.1', says: "can't be a loopback address" },
  { ip: '::1', says: "can't be a loopback address" },
  { ip: '169.254.1.1', says: "can't be a link-local unicast address" },
  { ip: 'fe80::1', says: "can't be a link-local unicast address" },
  { ip: '224.0.0.1', says: "can't be a multicast address" },
  { ip: 'ff02::1', says: "can't be a multicast address" },
  { ip: '0.0.0.0', says: "can't be an all zeros address" },
  { ip: '10.0.0', says: 'must be a valid IP address' },
])
  test(`refused as --node-ip: ${ip}`, () => {
    expect(nodeIpProblem(ip, facts.ownAddresses)).toContain(says)
  })

test('no address at all is said, and the addresses stay', () => {
  expect(decideAddresses({ ...facts, routed: [] })).toMatchObject({
    problem: expect.stringContaining('set --node-ip'),
  })
})

test('IP addresses in text', () => {
  for (const good of ['1.2.3.4', '255.255.255.255']) expect(ipFamily(good)).toBe(4)
  for (const good of ['::', '::1', 'fd00::7', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', '1::'])
    expect(ipFamily(good), good).toBe(6)
  for (const bad of [
    '',
    '1.2.3',
    '1.2.3.4.',
    '256.1.1.1',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    'g::',
    '1:2',
    'fe80::1%eth0',
    '10.0.0.1/8',
  ])
    expect(ipFamily(bad), bad).toBeUndefined()
  expect(isSameIp('fd00::7', 'fd00:0:0:0:0:0:0:7')).toBe(true)
  expect(isSameIp('::ffff:1.2.3.4', '::ffff:102:304')).toBe(true)
  expect(isSameIp('fd00::7', 'fd00::8')).toBe(false)
})
