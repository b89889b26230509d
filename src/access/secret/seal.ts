import type { Place, Vault } from '../../platform/vault.ts'
import { type Json, redact } from '../redaction/redact.ts'
import { isSealed, type Sealed } from '../redaction/sealed.ts'

/**
 * Returns the place that the encrypted values of a row belong to. Names of
 * stored secrets contain no slash, so the places of rows and secrets differ.
 */
export const placeOf = (kind: 'agent' | 'project', row: { id: string; company_id: string }): Place => ({
  companyId: row.company_id,
  name: `${kind}/${row.id}`,
})

/**
 * Returns a JSON object as its row stores it: the values that a read redacts
 * are encrypted, and the rest is unchanged. `redact` is therefore the
 * only set of rules, and reads need no key.
 */
export const seal = (vault: Vault, place: Place, plain: Json): Json =>
  sealHidden(plain, redact(plain), (value) => vault.seal(place, JSON.stringify(value))) as Json

/** @param displayed the redacted value */
function sealHidden(value: unknown, displayed: unknown, sealOne: (value: unknown) => string): unknown {
  if (isSealed(value) || value === displayed) return value
  if (Array.isArray(value) && Array.isArray(displayed))
    return value.map((item, i) => sealHidden(item, displayed[i], sealOne))
  if (isObject(value) && isObject(displayed)) {
    return mapValues(value, (inner, key) => sealHidden(inner, displayed[key], sealOne))
  }
  return { $sealed: sealOne(value), shown: displayed } satisfies Sealed
}

/**
 * Decrypts the values of a stored object. Values that the key cannot decrypt
 * remain encrypted, so that they are not lost if the key is restored.
 */
export const open = (vault: Vault, place: Place, stored: Json): Json =>
  openSealed(stored, (sealed) => vault.open(place, sealed)) as Json

function openSealed(value: unknown, openOne: (sealed: string) => string | undefined): unknown {
  if (isSealed(value)) {
    const json = openOne(value.$sealed)
    return json === undefined ? value : JSON.parse(json)
  }
  if (Array.isArray(value)) return value.map((item) => openSealed(item, openOne))
  return isObject(value) ? mapValues(value, (inner) => openSealed(inner, openOne)) : value
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const mapValues = (object: Json, change: (value: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
