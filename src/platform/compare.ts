/** Compares two texts by code units, so that the order is the same on every machine. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Compares like `compare`, but numbers by their value: `x-2` comes before `x-10`. */
export function compareNaturally(a: string, b: string): number {
  const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)]
  for (const [i, part] of left.entries()) {
    const other = right[i]
    if (other === undefined) return 1
    if (part === other) continue
    return (i % 2 === 1 && Number(part) - Number(other)) || compare(part, other)
  }
  return left.length - right.length
}
