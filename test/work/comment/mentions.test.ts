import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findMentioned } from '../../../src/work/comment/mentions.ts'

const agents = ['Ada', 'Ada Lovelace', 'Bob', 'José', 'CTO', '张三', 'R2-D2', 'Ωmega', 'Bob'].map((name, index) => ({
  name,
  id: index,
}))

const cases: [string, string, string[]][] = [
  ['a name after an @', 'Over to @Ada', ['Ada']],
  ['any case', '@aDA please', ['Ada']],
  ['every agent with the name', '@Bob', ['Bob', 'Bob']],
  ['a repeated name once', '@Ada @Ada', ['Ada']],
  ['several agents in one comment', '@Ada and @CTO, @josé', ['Ada', 'CTO', 'José']],
  ['the longest matching name', '@Ada Lovelace is asked', ['Ada Lovelace']],
  ['the shorter name if the longer name does not match', '@Ada Lovelaces', ['Ada']],
  ['a name with wide or repeated spaces', '@Ada \u00a0Lovelace', ['Ada Lovelace']],
  ['a name before punctuation', '(@Ada), @CTO! "@Bob": @José.', ['Ada', 'CTO', 'Bob', 'Bob', 'José']],
  ['a name before a possessive s', "@Ada's idea", ['Ada']],
  ['a name in bold and in a link', '**@Ada** [@CTO](https://acme.example)', ['Ada', 'CTO']],
  ['names separated by a slash', '@Ada/@CTO', ['Ada', 'CTO']],
  ['a name with an accent in both encodings', '@Jose\u0301', ['José']],
  ['a name in a script without spaces', '请@张三看一下', ['张三']],
  ['a Greek name in another case', '@ωMEGA', ['Ωmega']],
  ['a name with a dash', '@r2-d2 beeps', ['R2-D2']],
  ['no longer word with a name as its prefix', '@Adamant @Bobby @CTOs', []],
  ['no name before a dash or a dot and more letters', '@Ada-2 @bob.example', []],
  ['no e-mail address', 'write to bob@Ada or x.y+z@CTO or josé@Bob', []],
  ['no part of a URL', 'https://social.example/@Ada', []],
  ['no name without an @', 'Ada and Bob', []],
  ['no name after a backslash', '\\@Ada', []],
  ['no name in a code span', 'run `@Ada` and ``x ` @Bob``', []],
  ['a name after a code span', '`code` @Ada', ['Ada']],
  ['a name after an unclosed backtick', "it's ` odd @Ada", ['Ada']],
  ['a name after a backtick that is closed only in another paragraph', 'odd ` here\n\n@Ada ` there', ['Ada']],
  ['no name in a fenced block', 'see\n```ts\n@Ada\n```\n@Bob', ['Bob', 'Bob']],
  ['no name in a fenced block of tildes with backticks inside', '~~~\n```\n@Ada\n~~~\n', []],
  ['no name in a fenced block with a shorter fence inside', '````\n```\n@Ada\n````\n@CTO', ['CTO']],
  ['no name in an unclosed fenced block', '```\n@Ada', []],
  ['no name in a fenced block in a list or a quotation', '- ```\n  @Ada\n  ```\n> ```\n> @CTO\n> ```\n', []],
  ['no name in an indented block', 'see\n\n    @Ada\n\nthen @CTO', ['CTO']],
  ['a name in an indented line that continues a list or a paragraph', '- one\n\n    @Ada\n', ['Ada']],
  ['a name after three backticks in the middle of a line', 'use ``` for code, @Ada', ['Ada']],
]

for (const [title, markdown, expected] of cases) {
  test(`a comment mentions ${title}`, () => {
    const found = findMentioned(markdown, agents).map((agent) => agent.name)
    assert.deepEqual(found, expected)
  })
}

test('a mention matches any name between spaces, ignores case, and is not read in code', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .map((text) => text.replaceAll(/[\p{C}\s`@\\]+/gu, ' ').trim())
    .filter((text) => text !== '' && !/^[~>]|https?:/i.test(text))
  fc.assert(
    fc.property(name, fc.lorem(), fc.boolean(), (name, text, isUpper) => {
      const agent = { name }
      const upper = name.toUpperCase()
      const spelt = isUpper && upper.toLowerCase() === name.toLowerCase() ? upper : name
      assert.deepEqual(findMentioned(`${text} @${spelt} ${text}`, [agent]), [agent])
      assert.deepEqual(findMentioned(`${text} \`@${spelt}\` ${text}`, [agent]), [])
      assert.deepEqual(findMentioned(`${text}\n\`\`\`\n@${spelt}\n\`\`\`\n${text}`, [agent]), [])
    }),
    // Upper case decomposes its accents, and a change of case alone does not compose them again.
    {
      examples: [
        ['\u03c5\u0313\u0301', 'lorem', true],
        ['\u1f54', 'lorem', true],
      ],
    },
  )
})

test('a comment mentions only agents with names after an @', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom('@', 'Ada', '`', '```', '\n', ' ', '    ', '~~~'), fc.string())),
      (parts) => {
        const markdown = parts.join('')
        for (const agent of findMentioned(markdown, agents)) {
          const flat = markdown
            .toLowerCase()
            .normalize('NFC')
            .replaceAll(/[^\S\n]+/g, ' ')
          assert.ok(flat.includes(`@${agent.name.toLowerCase()}`))
        }
      },
    ),
  )
})

test('mentions in an adversarial comment are parsed quickly', () => {
  const many = Array.from({ length: 1_000 }, (_, n) => ({ name: `${'a'.repeat(n % 190)}${n}` }))
  const texts = ['@a '.repeat(33_000), '`'.repeat(100_000), '` `` '.repeat(20_000), '-'.repeat(99_999).concat('@')]
  for (const text of [...texts, '+@'.repeat(50_000), Array.from({ length: 440 }, (_, n) => '`'.repeat(n)).join(' ')]) {
    const before = process.cpuUsage()
    findMentioned(text.concat('@'), many)
    assert.ok(process.cpuUsage(before).user < 1_500_000, text.slice(0, 10))
  }
})
