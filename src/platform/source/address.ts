import { lookup as systemLookup } from 'node:dns/promises'
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { unprocessable } from '../errors.ts'

/** Resolves a host name to its IP addresses. */
export type Lookup = (host: string) => Promise<string[]>

export const lookupHost: Lookup = async (host) =>
  (await systemLookup(host, { all: true, verbatim: true })).map(({ address }) => address)

/**
 * Validates a URL that the server will connect to for a user: https on the
 * default port, no credentials, and only public addresses. The caller must
 * connect to the returned address. A second lookup of the name may return a
 * private one (DNS rebinding).
 *
 * @throws AppError 422 that names the field
 */
export async function requirePublicUrl(
  text: string,
  field: string,
  lookup: Lookup,
): Promise<{ url: URL; address: string }> {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw unprocessable(field, 'must be an https URL')
  if (url.username || url.password) throw unprocessable(field, 'must not have a user name or a password in it')
  if (url.port) throw unprocessable(field, 'must not name a port: only the default port of https is allowed')
  if (url.search || url.hash) throw unprocessable(field, 'must not have a query or a fragment')
  const address = await findPublicAddress(url, lookup)
  if ('fault' in address) throw unprocessable(field, address.fault)
  return { url, ...address }
}

/**
 * Resolves the host of a URL to an address that a connection may use. All of
 * its addresses must be public.
 *
 * @returns the address, or a description of the fault of the host
 */
export async function findPublicAddress(url: URL, lookup: Lookup): Promise<{ address: string } | { fault: string }> {
  const host = hostOf(url)
  const addresses = isIPv4(host) || isIPv6(host) ? [host] : await lookup(host).catch(() => [])
  const [address] = addresses
  if (address === undefined) return { fault: `the host ${host.slice(0, 100)} was not found` }
  if (!addresses.every(isPublicAddress)) {
    return { fault: `${host.slice(0, 100)} is an address of this machine or of a private network` }
  }
  return { address }
}

/** Returns the host of a URL. An IPv6 address has no brackets. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, '$1')

/** Returns whether an address is on the public internet: not loopback, private, link-local or reserved for documentation. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !NOT_PUBLIC.check(address, 'ipv4')
  // In IPv6 only the global range is public. Ranges that map or tunnel IPv4 are excluded: they can reach private addresses.
  return isIPv6(address) && GLOBAL.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6')
}

const NOT_PUBLIC = new BlockList()
for (const range of [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
]) {
  const [net, bits] = range.split('/')
  NOT_PUBLIC.addSubnet(net!, Number(bits), 'ipv4')
}
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  NOT_PUBLIC.addSubnet(net, bits, 'ipv6')
}

const GLOBAL = new BlockList()
GLOBAL.addSubnet('2000::', 3, 'ipv6')
