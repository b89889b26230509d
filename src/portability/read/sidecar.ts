import { type SourceFiles, textOf } from '../../platform/source/files.ts'
import { readYaml, type Yaml, YamlFault } from '../../platform/source/yaml.ts'
import { type Findings, readFields } from './fields.ts'

/** Ours first: where a package has both, another product's is not read. */
const FILES = ['.service.yaml', '.service.yml', '.paperclip.yaml', '.paperclip.yml']

const SECTIONS = ['company', 'goals', 'labels', 'agents', 'projects', 'tasks', 'routines'] as const

/** What the neutral files cannot hold, by section and slug. */
export interface Sidecar {
  path: string
  section(name: (typeof SECTIONS)[number]): Yaml
  /** What a section says of one thing: its `key`, or the last part of it. */
  of(name: (typeof SECTIONS)[number], key: string): Yaml
}

/** Reads the sidecar of a package; of one that has none, an empty one. */
export function readSidecar(files: SourceFiles, findings: Findings): Sidecar {
  const path = FILES.find((file) => files.has(file))
  const content = path === undefined ? {} : parse(files.get(path)!, path, findings)
  const fields = readFields(content, path ?? FILES[0]!, findings)
  fields.noteUnknown(['schema', ...SECTIONS])
  const sections = new Map(SECTIONS.map((name) => [name, fields.mapping(name)]))
  return {
    path: path ?? FILES[0]!,
    section: (name) => sections.get(name)!,
    of(name, key) {
      const section = readFields(sections.get(name)!, `${path} (${name})`, findings)
      const short = key.split('/').at(-1)!
      return section.mapping(section.has(key) ? key : short)
    },
  }
}

function parse(bytes: Uint8Array, path: string, findings: Findings): Yaml {
  try {
    const text = textOf(bytes)
    if (text === undefined) throw new YamlFault('is no text')
    return readYaml(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error
    findings.problems.push({ path, message: error.message })
    return {}
  }
}
