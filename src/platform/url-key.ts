/**
 * The form of a name for URLs: lower-case ASCII letters, digits and dashes,
 * made unique with a number (`website`, `website-2`). A name without such
 * letters takes the fallback.
 *
 * @param isTaken whether another of the same company has it
 */
export function chooseUrlKey(name: string, fallback: string, isTaken: (urlKey: string) => boolean): string {
  const stem = slugOf(name) || fallback
  for (let n = 1; ; n++) {
    if (!isTaken(numbered(stem, n))) return numbered(stem, n)
  }
}

/** The first of a name has it as it is, the second with a 2. */
export const numbered = (stem: string, n: number) => (n === 1 ? stem : `${stem}-${n}`)

/** Empty when the name has no letter or digit of ASCII. */
export const slugOf = (name: string) =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-|-$/g, '')
