/** Reads the cursor of the next page from a `Link` header; undefined if there is no next page. */
export function linkedCursor(header: string | null): string | undefined {
  const next = /<([^>]*)>; *rel="?next"?/.exec(header ?? '')?.[1]
  return next === undefined ? undefined : (new URL(next, 'http://server').searchParams.get('after') ?? undefined)
}
