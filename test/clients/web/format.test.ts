import assert from 'node:assert/strict'
import { test } from 'node:test'
import { money, number } from '../../../src/clients/web/app/kit/format.ts'

const WHOLE = new Intl.NumberFormat('en-US')
const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const FINE = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })

test('numbers and amounts are formatted like Intl formats them', () => {
  for (const value of [0, 7, 999, 1_000, 12_400, 1_234_567, -1_234, 0.5, 1_234.5])
    assert.equal(number(value), WHOLE.format(value))
  for (const cents of [0, 1, 124, 99.6, 2_000, 123_456, 12_345_678, -124, -123_456])
    assert.equal(money(cents), DOLLARS.format(cents / 100))
  for (const cents of [0.004, 0.05, 0.123, 0.5, -0.25]) assert.equal(money(cents), FINE.format(cents / 100))
})
