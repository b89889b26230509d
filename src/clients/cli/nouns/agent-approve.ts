import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { confirm } from '../command/ask.ts'
import { text, toggle } from '../command/flag.ts'
import { print } from '../command/output.ts'
import { verb } from '../command/verb.ts'

/** `service agent approve-configuration`: approves exactly the configuration that it displays. */
export const approveConfigurationCommand = () =>
  verb({
    name: 'approve-configuration',
    summary: "Display an agent's current configuration, confirm, and approve it. Its runs are no longer restricted.",
    args: ['<agent>'],
    flags: {
      revision: text('--revision <id>', 'the revision that you have reviewed, as `agent revisions` prints it'),
      yes: toggle('-y, --yes', 'do not prompt for a confirmation'),
    },
    examples: ['agent approve-configuration Kit --yes'],
    note: 'If the configuration changes before you confirm, nothing is approved.',
    async run({ client, find, options }, [ref], { revision }) {
      const params = { agentId: await find('agent', ref) }
      // Before the configuration: a change in between makes the revision too old, and the server refuses it.
      const revisions = await client.request('GET /api/agents/:agentId/config-revisions', { params, query: LATEST })
      const seen = revision === undefined ? revisions[0] : revisions.find(({ id }) => id.endsWith(revision))
      if (!seen) throw new CliError(EXIT.failure, `${ref} has no revision ${revision ?? 'yet'}.`)
      const { name, adapterType, adapterConfig, runtimeConfig } = await client.request(
        'GET /api/agents/:agentId/configuration',
        { params },
      )
      const asksForText = options.json === undefined && options.jq === undefined
      if (asksForText) print(`${JSON.stringify({ adapterType, adapterConfig, runtimeConfig }, null, 2)}\n`)
      if (!(await confirm(options, `Approve this configuration of ${name}?`))) {
        throw new CliError(EXIT.failure, 'Nothing was changed.')
      }
      const agent = await client.request('POST /api/agents/:agentId/approve-configuration', {
        params,
        body: { revisionId: seen.id },
      })
      return { value: agent, text: () => `The configuration of ${name} is approved.` }
    },
  })

const LATEST = { limit: 1000 }
