import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { REDACTED } from '../../src/access/redaction/redact.ts'
import { createFinder, SHORTEST } from './finder.ts'
import { formsOf } from './forms.ts'

/** What a secret is, as the message of a hit names it. */
export type Kind =
  | 'agent key'
  | 'board token'
  | 'bearer token'
  | 'claim secret'
  | 'company secret'
  | 'env value'
  | 'key file'
  | 'link token'
  | 'metadata secret'
  | 'password'
  | 'run token'
  | 'sealed value'
  | 'session'
  | 'webhook secret'

/** The secrets of one test's server, and the search for them in what it leaves and says. */
export interface Canaries {
  /**
   * Remembers a secret. One under 8 bytes, or of fewer than 5 different ones
   * (`xxxxxxxx`), is not: it would be found in ordinary words. Nor is what
   * stands for a secret. @returns the secret
   */
  notice<Secret extends string | Uint8Array>(kind: Kind, secret: Secret): Secret
  /** Remembers what a request gave as a secret. */
  noticeGiven(kind: Kind, secret: string): void
  /** From here on, of what requests give only what holds a mark is a secret: the rest is random, and may be anywhere. */
  onlyMarked(mark: string): void
  /**
   * Looks for every secret in every form.
   *
   * @param place as the message names it
   * @param shown the one secret that may be there: the token of its own link that a page shows
   */
  search(place: string, content: string | Buffer, shown?: string): void
  /** Looks through all the files of a folder but its keys. What changes meanwhile may be missed. */
  searchFolder(folder: string): void
  /** Excepts a kind from the search of some places in this test. */
  except(kind: Kind, place: RegExp, why: string): void
  /** The kinds that were noticed, sorted. */
  kinds(): Kind[]
  /** Fails when anything was found, with its kind and place and never with the secret. */
  assertNoHits(): void
}

interface Noticed {
  kind: Kind
  text: string
}

interface Exception {
  kind: Kind
  place: RegExp
  why: string
}

const LEAST_VARIED = 5

export function createCanaries(): Canaries {
  const noticed = new Map<string, Kind>()
  const finder = createFinder<Noticed>()
  const exceptions: Exception[] = []
  const hits = new Set<string>()
  let mark = ''
  const hit = (kind: Kind, place: string) => {
    if (!exceptions.some((one) => one.kind === kind && one.place.test(place))) hits.add(`${kind} in ${place}`)
  }
  const notice: Canaries['notice'] = (kind, secret) => {
    const bytes = Buffer.from(secret)
    const text = bytes.toString('latin1')
    const isTooPlain = bytes.length < SHORTEST || new Set(bytes).size < LEAST_VARIED
    if (isTooPlain || text === REDACTED || noticed.has(text)) return secret
    noticed.set(text, kind)
    for (const form of formsOf(bytes)) finder.add(form, { kind, text: bytes.toString() })
    return secret
  }
  const search: Canaries['search'] = (place, content, shown = '') => {
    for (const { kind, text } of finder.find(typeof content === 'string' ? Buffer.from(content) : content)) {
      if (text !== shown) hit(kind, place.replaceAll(text, '...'))
    }
  }
  return {
    notice,
    noticeGiven(kind, secret) {
      if (secret.includes(mark)) notice(kind, secret)
    },
    onlyMarked(text) {
      mark = text
    },
    search,
    searchFolder(folder) {
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
      for (const file of files.filter(isKey)) notice('key file', readFileSync(file))
      for (const file of files.filter((file) => !isKey(file))) {
        const content = readIfThere(file)
        const place = path.relative(folder, file)
        search(place, content)
        for (const kind of madeSecretsIn(content)) hit(kind, place)
      }
    },
    except: (kind, place, why) => exceptions.push({ kind, place, why }),
    kinds: () => [...new Set(noticed.values())].toSorted(),
    assertNoHits: () => assert.deepEqual([...hits], [], 'A secret is where none may be.'),
  }
}

const isKey = (file: string) => path.basename(path.dirname(file)) === 'keys'

/** What a process that still runs removes meanwhile is no leak. */
function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch {
    return Buffer.alloc(0)
  }
}

/** How a run token begins: its header is always the same. */
const RUN_TOKEN = Buffer.from('{"alg":"HS256","typ":"service-run+jwt"}').toString('base64url')

/**
 * The kinds of secret that the server made and that show what they are: also
 * those of servers that run as processes, whose answers nobody here sees.
 * A key is told from a look-alike by its checksum.
 */
function* madeSecretsIn(content: Buffer): Generator<Kind> {
  if (content.includes(`${RUN_TOKEN}.`)) yield 'run token'
  if (!content.includes('svc')) return
  for (const [, prefix, body = '', checksum] of content.toString('latin1').matchAll(MADE_KEY)) {
    if (hash('sha256', body, 'base64url').slice(0, 6) === checksum)
      yield prefix === 'svc_' ? 'agent key' : 'board token'
  }
}

const MADE_KEY = /(svcb?_)([\w-]{43})([\w-]{6})/g
