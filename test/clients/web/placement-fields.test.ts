import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SETTINGS, toSettings } from '../../../src/clients/web/app/pages/placements/fields.ts'
import { settingsSchemas } from '../../../src/organization/placement/settings.ts'

test('the form of a placement has a field for each setting of its type', () => {
  for (const [type, schema] of Object.entries(settingsSchemas)) {
    const fields = SETTINGS[type as keyof typeof SETTINGS].map(({ key }) => key)
    const settings = Object.keys((schema as unknown as { entries: object }).entries)
    assert.deepEqual(fields.toSorted(), settings.toSorted(), type)
  }
})

test('the form of a placement sends numbers, lists and removed settings', () => {
  const typed = { partition: ' main ', cpus: '4', options: '--constraint=big\n\n--nice=5', qos: '' }
  const sent = { partition: 'main', cpus: 4, options: ['--constraint=big', '--nice=5'] }
  assert.deepEqual(toSettings('slurm', typed, true), sent)
  assert.deepEqual(toSettings('slurm', typed, false), { ...sent, qos: null })
})
