import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** Where a secret belongs. What was sealed for one place does not open in another. */
export interface Place {
  companyId: string
  name: string
}

export interface Vault {
  seal(place: Place, value: string): string
  /** @returns undefined for what was sealed for another place or under another key, or was altered */
  open(place: Place, sealed: string): string | undefined
  /** A hash by which a text is known again, and which without the key cannot be tried against guesses. */
  fingerprint(text: string): string
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals values with AES-256-GCM. The company and the name are bound into each,
 * so that who can write the database cannot have one company's secret handed
 * to another's agents by moving a row.
 *
 * @param key 32 bytes
 */
export function createVault(key: Uint8Array): Vault {
  const bound = ({ companyId, name }: Place) => Buffer.from(JSON.stringify([companyId, name]))
  const fingerprintKey = Buffer.from(hkdfSync('sha256', key, '', 'fingerprint', 32))
  return {
    fingerprint: (text) => createHmac('sha256', fingerprintKey).update(text).digest('hex'),
    seal(place, value) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(bound(place))
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64')
    },
    open(place, sealed) {
      try {
        const bytes = Buffer.from(sealed, 'base64')
        const nonce = bytes.subarray(0, NONCE_BYTES)
        const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
        const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
        decipher.setAAD(bound(place)).setAuthTag(tag)
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}
