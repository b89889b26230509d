import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partsOf, usualParts } from '../../../src/clients/demo-agent/outline.ts'

test('bullets at the margin are parts, with their role and what is indented below them', () => {
  assert.deepEqual(partsOf('Soon.\n\n- Build it (manager)\n  - Draw (engineer)\n    Question: How?\n- Rest'), [
    { title: 'Build it', role: 'manager', description: '- Draw (engineer)\n  Question: How?' },
    { title: 'Rest', role: null, description: '' },
  ])
})

test('text without bullets has no parts, and is then split by who is there', () => {
  assert.deepEqual(partsOf('Just do it.'), [])
  assert.deepEqual(
    usualParts('it', new Set(['researcher', 'engineer'])).map((part) => part.title),
    ['Look into: it', 'Build: it', 'Test: it'],
  )
})
