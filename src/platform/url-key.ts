/**
 * Returns the form of a name for URLs: lower-case ASCII letters, digits and
 * dashes, made unique with a number (`website`, `website-2`).
 *
 * @param fallback for a name without ASCII letters and digits
 * @param isTaken whether another entity of the company has the key
 */
export function chooseUrlKey(name: string, fallback: string, isTaken: (urlKey: string) => boolean): string {
  const stem = slugOf(name) || fallback
  for (let n = 1; ; n++) {
    if (!isTaken(numbered(stem, n))) return numbered(stem, n)
  }
}

/** Adds a number to a name, beginning with `-2` for the second use. The first use has no number. */
export const numbered = (stem: string, n: number) => (n === 1 ? stem : `${stem}-${n}`)

/** Empty if the name has no ASCII letters or digits. */
export const slugOf = (name: string) =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-|-$/g, '')
