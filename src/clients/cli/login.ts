import { createClient } from '../connection/client.ts'
import { parseServerUrl } from '../connection/connect.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { type Profile, readProfiles, writeProfiles } from '../connection/profiles.ts'
import { askSecret } from './command/ask.ts'
import { text } from './command/flag.ts'
import { readText } from './command/input.ts'
import { table } from './command/output.ts'
import { noun, verb } from './command/verb.ts'

export const loginCommand = () =>
  verb({
    name: 'login',
    summary: 'Store a server and your token for it. Later commands use this server.',
    args: ['<url>', '[token]'],
    flags: { name: text('--name <name>', 'the name of the profile (default: the host)') },
    examples: ['login https://service.example.com', 'login http://127.0.0.1:3100 --name local'],
    note: `The token is a file (@file), or - for standard input. Without it the command prompts for it.
Create a token at URL/account. It is stored in your configuration folder, which only you can read.`,
    async run({ options }, [given, source], { name = new URL(parseServerUrl(given, '<url>')).host }) {
      const url = parseServerUrl(given, '<url>')
      const { mode } = await createClient({ url }).request('GET /api/health')
      const isLocal = mode === 'local_trusted' && source === undefined && options.token === undefined
      const credential = source === undefined ? options.token : await readText(source)
      const how = `Create a token at ${new URL('/account', url).href} and pass it on standard input: service login ${url} -`
      const token = isLocal ? undefined : (credential ?? (await askSecret(options, 'Your token', how)))
      const identity = await createClient({ url, token }).request('GET /api/whoami')
      const { profiles } = readProfiles()
      const profile: Profile = { url, ...(token !== undefined && { token }) }
      writeProfiles({ current: name, profiles: { ...profiles, [name]: profile } })
      return {
        value: { name, url, identity },
        text: () =>
          `You are ${identity.name ?? (identity.via === 'local' ? 'the board' : identity.type)} at ${url}. Later commands use this server (profile ${name}).`,
      }
    },
  })

export const logoutCommand = () =>
  verb({
    name: 'logout',
    summary: 'Remove a stored server and its token.',
    args: ['[profile]'],
    examples: ['logout local'],
    note: 'The token remains valid. Revoke it with `service token delete`.',
    async run(_, [ref]) {
      const { current, profiles } = readProfiles()
      const name = find(ref ?? current)
      const { [name]: removed, ...others } = profiles
      writeProfiles({ current: current === name ? undefined : current, profiles: others })
      return { value: { name, url: removed!.url }, text: () => `The profile ${name} is removed.` }
    },
  })

function find(name: string | undefined): string {
  const names = Object.keys(readProfiles().profiles)
  if (name !== undefined && names.includes(name)) return name
  const known = names.length === 0 ? 'There are no profiles.' : `The profiles are: ${names.join(', ')}.`
  throw new CliError(
    EXIT.notFound,
    `${name === undefined ? 'No profile is in use' : `There is no profile ${name}`}. ${known}`,
  )
}

export const profileCommand = () =>
  noun('profile', 'Profiles: the stored servers and tokens.', [
    verb({
      name: 'list',
      summary: 'List the profiles. Tokens are not displayed.',
      examples: ['profile list'],
      async run() {
        const { current, profiles } = readProfiles()
        const all = Object.entries(profiles).map(([name, { url }]) => ({ name, url, isCurrent: name === current }))
        const rows = all.map(({ name, url, isCurrent }) => [name, url, isCurrent ? 'in use' : ''])
        return {
          value: all,
          text: () =>
            all.length === 0
              ? 'There are no profiles. Add one with `service login URL`.'
              : table([['Profile', 'Server', ''], ...rows]),
        }
      },
    }),
    verb({
      name: 'use',
      summary: 'Use another server for later commands.',
      args: ['<profile>'],
      examples: ['profile use local'],
      async run(_, [ref]) {
        const name = find(ref)
        writeProfiles({ ...readProfiles(), current: name })
        return { value: { name }, text: () => `Later commands use the profile ${name}.` }
      },
    }),
  ])
