import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fault, withDamagedPages, withFailingDisk } from './disk-server.ts'

for (const fault of [
  { call: 'pread64', when: '1+' },
  { call: 'pread64', when: '3' },
  { call: 'pwrite64', when: '1+' },
  { call: 'fsync', when: '1+' },
] as Fault[]) {
  test(`a server goes on when ${fault.call} of its database fails (${fault.when}), and says so`, async () => {
    const { damaged, wrong } = await withFailingDisk(fault)
    assert.deepEqual(wrong, [])
    assert.ok(damaged > 0)
  })
}

test('a server with damaged pages goes on, and doctor finds the damage without it', async () => {
  const { damaged, wrong } = await withDamagedPages(1)
  assert.deepEqual(wrong, [])
  assert.ok(damaged > 0)
})
