import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { materialise } from '../../../src/organization/agent-skill/materialise.ts'
import { readSkills, type SkillSource } from '../../../src/organization/skill/read-skills.ts'
import { AppError } from '../../../src/platform/errors.ts'
import { exactTextOf } from '../../../src/platform/source/files.ts'
import { temporaryFolder } from '../../helpers.ts'
import { skillText } from './arrange.ts'

const INLINE: SkillSource = { type: 'inline', namespace: null, locator: null, ref: null }

/** Path names with a special meaning for file systems, among plain ones. */
const part = fc.oneof(
  fc.constantFrom(
    'a',
    'A',
    'b.md',
    '..',
    '.',
    '',
    ' ',
    'a ',
    'a.',
    '.git',
    'CON',
    'é',
    'e\u0301',
    '~',
    '-rf',
    '\\',
    'c:',
  ),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
)
const anyPath = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
const anyFiles = fc.array(fc.tuple(anyPath, fc.uint8Array({ maxLength: 20 })), { maxLength: 5 })

test('every accepted skill is written unchanged, inside its folder, and nothing else is written', async (t) => {
  const root = temporaryFolder(t)
  let n = 0
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(anyFiles, async (entries) => {
      const files = new Map<string, Uint8Array>([...entries, ['SKILL.md', Buffer.from(skillText('x'))]])
      const [skill] = readOrRefuse(files) ?? []
      if (!skill) return
      accepted++
      const home = path.join(root, String(n++))
      const folder = path.join(home, 'company', 'agent', 'set')
      assert.equal(await materialise(folder, skill.files, 'test'), true)
      const written = readdirSync(home, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => path.join(entry.parentPath, entry.name))
      assert.deepEqual(
        new Map(
          written.map((file) => [path.relative(folder, file), readFileSync(file).toString('hex')] as const).sort(),
        ),
        new Map([...files].map(([file, content]) => [file, Buffer.from(content).toString('hex')] as const).sort()),
      )
      assert.equal(await materialise(folder, skill.files, 'test'), false)
    }),
    { numRuns: 300 },
  )
  assert.ok(accepted > 50, `only ${accepted} were accepted, so little was tried`)
})

test('a file that is returned as text has the same bytes when sent back', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      ),
      (content) => {
        const text = exactTextOf(content)
        if (text !== undefined) assert.deepEqual(Buffer.from(text), Buffer.from(content))
      },
    ),
  )
})

/** Reads the skills of the files. Returns undefined if an AppError refuses them. */
function readOrRefuse(files: Map<string, Uint8Array>) {
  try {
    return readSkills(files, INLINE, null).skills
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    return undefined
  }
}
