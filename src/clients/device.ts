const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const

/** Returns `Firefox on Linux`, or the name that a program sends. */
export function deviceOf(userAgent: string | null): string {
  if (!userAgent) return 'An unknown program'
  const nameIn = (names: readonly (readonly [string, string])[]) =>
    names.find(([mark]) => userAgent.includes(mark))?.[1]
  const browser = nameIn(BROWSERS)
  const system = nameIn(SYSTEMS)
  return browser ? `${browser}${system ? ` on ${system}` : ''}` : userAgent.slice(0, 60)
}
