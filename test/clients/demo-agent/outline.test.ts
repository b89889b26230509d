import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partsOf, usualParts } from '../../../src/clients/demo-agent/outline.ts'

test('unindented bullets are parts, each with its role and its indented text', () => {
  assert.deepEqual(partsOf('Soon.\n\n- Build it (manager)\n  - Draw (engineer)\n    Question: How?\n- Rest'), [
    { title: 'Build it', role: 'manager', description: '- Draw (engineer)\n  Question: How?' },
    { title: 'Rest', role: null, description: '' },
  ])
})

test('a text without bullets has no parts, and is split by the available roles', () => {
  assert.deepEqual(partsOf('Just do it.'), [])
  assert.deepEqual(
    usualParts('it', new Set(['researcher', 'engineer'])).map((part) => part.title),
    ['Look into: it', 'Build: it', 'Test: it'],
  )
})
