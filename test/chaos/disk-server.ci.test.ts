import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fault, withDamagedPages, withFailingDisk } from './disk-server.ts'

for (const fault of [
  { call: 'pread64', when: '1+' },
  { call: 'pread64', when: '3' },
  { call: 'pwrite64', when: '1+' },
  { call: 'fsync', when: '1+' },
] as Fault[]) {
  test(`a server continues after ${fault.call} of its database fails (${fault.when}), and reports the failure`, async () => {
    const { damaged, wrong } = await withFailingDisk(fault)
    assert.deepEqual(wrong, [])
    assert.ok(damaged > 0)
  })
}

test('a server with damaged database pages continues, and doctor detects the damage while the server is stopped', async () => {
  const { damaged, wrong } = await withDamagedPages(1)
  assert.deepEqual(wrong, [])
  assert.ok(damaged > 0)
})
