import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCommands } from './in-process.ts'

test('a question is answered by the labels of its options, and an issue without one says so', async (t) => {
  const { out, run } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  await out('issue', 'create', 'Draw')
  const none = await run('issue', 'answer', 'wal-1', 'x')
  assert.deepEqual([none.code, none.err], [5, 'service: WAL-1 has no pending question.\n'])
  await out('issue', 'ask', 'WAL-1', 'Which?', '--kind', 'choose', '--options', 'SVG,PNG')
  assert.match(await out('issue', 'answer', 'WAL-1', '--select', 'png'), /^The question is answered: Which\?/)
  assert.match(await out('issue', 'view', 'WAL-1'), /PNG/)
})
