import type { DiffLine } from './compare.ts'

/** Matches the header lines of a file, before the first `@@`. The page displays their content in another form. */
const HEADER = /^(---|\+\+\+|diff |index |(new|deleted) file |(old|new) mode |similarity |rename |Binary )/

/** Parses a patch into lines. */
export function linesOfPatch(patch: string): DiffLine[] {
  let isHeader = true
  return patch
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line): DiffLine[] => {
      if (line.startsWith('diff ')) isHeader = true
      if (line.startsWith('@@')) isHeader = false
      // Inside a hunk a line that begins with `---` is a removed line.
      if (isHeader && HEADER.test(line)) return []
      if (line.startsWith('@@')) return [{ kind: 'gap', text: line }]
      if (line.startsWith('\\')) return [{ kind: 'gap', text: line.slice(2) }]
      const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same'
      return [{ kind, text: line.slice(1) }]
    })
}

/** Splits a patch into one patch for each file, keyed by the file's new path. */
export function filesOfPatch(patch: string): Map<string, string> {
  const parts = patch.split(/^(?=diff --git )/m).filter((part) => part.startsWith('diff --git '))
  return new Map(parts.map((part) => [pathOfPatch(part), part]))
}

function pathOfPatch(part: string): string {
  const [header = ''] = part.split(/^@@/m)
  const named = /^(?:\+\+\+ b\/|rename to )(.+)$/m.exec(header) ?? /^--- a\/(.+)$/m.exec(header)
  // A binary file has its name only in the first line.
  const [, path = ''] = named ?? /^diff --git .* b\/(.+)$/m.exec(header) ?? []
  return path.replace(/\t$/, '')
}
