/** The minimum length of a searched text, in bytes. */
export const SHORTEST = 8

const BLOCK = 4
/** Every 8 bytes contain a whole block of 4 that begins at a multiple of 5. */
const STEP = SHORTEST - BLOCK + 1
const FILTER_BITS = 18

/**
 * Searches for many texts at once, in a time that does not depend on the number
 * of texts. (With one `includes` each, a hundred secrets in eight encodings took
 * seconds for the data of 500 requests.)
 */
export function createFinder<Owner>() {
  const filter = new Uint8Array(1 << FILTER_BITS)
  const byBlock = new Map<number, { text: Buffer; at: number; owner: Owner }[]>()
  return {
    /** @param text 8 bytes or more */
    add(text: Buffer, owner: Owner): void {
      for (let at = 0; at < STEP; at++) {
        const block = text.readUInt32LE(at)
        filter[slotOf(block)] = 1
        const known = byBlock.get(block)
        if (known) known.push({ text, at, owner })
        else byBlock.set(block, [{ text, at, owner }])
      }
    },
    /** Returns the owners of the texts in the content, possibly with duplicates. */
    find(content: Buffer): Owner[] {
      const found: Owner[] = []
      const { buffer, byteOffset, length } = content
      // Twice as fast as `readUInt32LE`.
      const view = new DataView(buffer, byteOffset, length)
      for (let i = 0; i + BLOCK <= length; i += STEP) {
        const block = view.getUint32(i, true)
        if (filter[slotOf(block)] === 0) continue
        for (const { text, at, owner } of byBlock.get(block) ?? []) {
          const start = i - at
          if (start >= 0 && content.subarray(start, start + text.length).equals(text)) found.push(owner)
        }
      }
      return found
    },
  }
}

const slotOf = (block: number) => Math.imul(block, 0x9e3779b1) >>> (32 - FILTER_BITS)
