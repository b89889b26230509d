import { type SourceFiles, textOf } from '../../platform/source/files.ts'
import { readYaml, type Yaml, YamlFault } from '../../platform/source/yaml.ts'
import { type Findings, readFields } from './fields.ts'

/** Our file comes first: if a package has both, the other product's file is ignored. */
const FILES = ['.service.yaml', '.service.yml', '.paperclip.yaml', '.paperclip.yml']

const SECTIONS = ['company', 'goals', 'labels', 'agents', 'projects', 'tasks', 'routines'] as const

/** The data that the neutral files cannot contain, by section and slug. */
export interface Sidecar {
  path: string
  /** The sections without a meaning here. */
  others: Yaml
  section(name: (typeof SECTIONS)[number]): Yaml
  /** Returns the entry of an entity in a section, by its `key` or by the last part of the key. */
  of(name: (typeof SECTIONS)[number], key: string): Yaml
}

/** Reads the sidecar of a package. Empty if the package has none. */
export function readSidecar(files: SourceFiles, findings: Findings): Sidecar {
  const path = FILES.find((file) => files.has(file))
  const content = path === undefined ? {} : parse(files.get(path)!, path, findings)
  const fields = readFields(content, path ?? FILES[0]!, findings)
  const others = fields.rest(['schema', ...SECTIONS])
  const sections = new Map(SECTIONS.map((name) => [name, fields.mapping(name)]))
  return {
    path: path ?? FILES[0]!,
    others,
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
    if (text === undefined) throw new YamlFault('is not a text')
    return readYaml(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error
    findings.problems.push({ path, message: error.message })
    return {}
  }
}
