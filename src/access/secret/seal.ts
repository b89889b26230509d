import type { Place, Vault } from '../../platform/vault.ts'
import { type Json, redactConfig } from '../redaction/redact.ts'
import { isSealed, type Sealed } from '../redaction/sealed.ts'

/** To whom the sealed values of a row belong. No stored secret has a name with a slash, so neither opens for the other. */
export const placeOf = (kind: 'agent' | 'project', row: { id: string; company_id: string }): Place => ({
  companyId: row.company_id,
  name: `${kind}/${row.id}`,
})

/**
 * A JSON object as its row keeps it: what a read of it redacts is sealed, and
 * the rest is as it was. So there is one set of rules, that of `redactConfig`,
 * and who reads needs no key.
 */
export const seal = (vault: Vault, place: Place, plain: Json): Json =>
  sealHidden(plain, redactConfig(plain), (value) => vault.seal(place, JSON.stringify(value))) as Json

/** @param shown the value's redaction */
function sealHidden(value: unknown, shown: unknown, sealOne: (value: unknown) => string): unknown {
  if (isSealed(value) || value === shown) return value
  if (Array.isArray(value) && Array.isArray(shown)) return value.map((item, i) => sealHidden(item, shown[i], sealOne))
  if (isObject(value) && isObject(shown)) {
    return mapValues(value, (inner, key) => sealHidden(inner, shown[key], sealOne))
  }
  return { $sealed: sealOne(value), shown } satisfies Sealed
}

/** The reverse of `seal`. What the key does not open stays sealed, so that it is not lost to a key that comes back. */
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
