import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/**
 * The entity and name that a secret belongs to. A value that was encrypted for
 * one place cannot be decrypted for another.
 */
export interface Place {
  companyId: string
  name: string
}

export interface Vault {
  seal(place: Place, value: string): string
  /** @returns undefined if the value was encrypted for another place or with another key, or was altered */
  open(place: Place, sealed: string): string | undefined
  /** Returns a keyed hash of a text. Without the key, guesses cannot be compared with it. */
  fingerprint(text: string): string
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts values with AES-256-GCM. The company and the name are authenticated
 * with each value: someone who can write to the database cannot give the secret
 * of one company to agents of another by moving a row.
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
