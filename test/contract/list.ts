import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ROWS } from './rows.ts'

export const README = path.join(import.meta.dirname, 'README.md')

/** The test files of each row. A row is a key of the checks in a test file. */
export function testsOfRows(): Map<string, string[]> {
  const sources = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => ({ file, source: readFileSync(path.join(import.meta.dirname, file), 'utf8') }))
  const rows = Object.values(ROWS).flat()
  const filesOf = (row: string) => sources.filter(({ source }) => source.includes(`'${row}':`)).map(({ file }) => file)
  return new Map(rows.map((row) => [row, filesOf(row)]))
}

/** Returns the list of the contract's rows and their tests, as Markdown. */
export function listRows(): string {
  const tests = testsOfRows()
  const total = tests.size
  const sections = Object.entries(ROWS).map(([section, rows]) => {
    const lines = rows.map((row: string) => {
      const file = tests.get(row)?.[0]
      const where = file ? `[${file}](${file})` : '**none**'
      return `| ${row.replaceAll('|', '\\|')} | ${where} |`
    })
    return `## ${section}\n\n| row, and title of its test | file |\n| --- | --- |\n${lines.join('\n')}\n`
  })
  return `# The contract and its tests

Each row of each table of the contract, and each rule beside the tables, with the test that is named after it. Made by \`npm run contract\` from [rows.ts](rows.ts) and the tests; a test fails when this list is not current, or when a row has no test.

${total} rows.

${sections.join('\n')}`
}

if (process.argv[1] === import.meta.filename) writeFileSync(README, listRows())
