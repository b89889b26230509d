import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { adapterOf } from '../../adapter/registry.ts'
import { ADAPTER_TYPES, resolveAdapterAlias } from '../../adapter/types.ts'
import { alias, type Endpoint, reply } from '../../http/route.ts'
import { AppError } from '../../platform/errors.ts'
import { adapterGuide, configurationGuide, iconGuide } from './guides.ts'

/** Creates the endpoints of the plain-text guides for agents. The guides are generated from the schemas that they describe. */
export function guideRoutes(endpoints: () => readonly Endpoint[]): Endpoint[] {
  const configuration = route({
    id: 'guides.agentConfiguration',
    method: 'GET',
    path: '/llms/agent-configuration.txt',
    summary: 'Get the guide to hiring and configuring agents, as plain text',
    who: [board, agent],
    responses: { 200: 'text/plain' },
    run: () => text(configurationGuide(endpoints())),
  })
  const adapter = route({
    id: 'guides.adapter',
    method: 'GET',
    path: '/llms/agent-configuration/:adapterType.txt',
    summary: 'Get the guide to the configuration of one adapter, as plain text',
    who: [board, agent],
    responses: { 200: 'text/plain' },
    run: (_, { params }) => {
      const adapter = adapterOf(resolveAdapterAlias(params.adapterType))
      if (!adapter) {
        const types = ADAPTER_TYPES.join(', ')
        throw new AppError(
          'not_found',
          `There is no adapter ${params.adapterType.slice(0, 100)}. The adapters are: ${types}.`,
        )
      }
      return text(adapterGuide(adapter, endpoints()))
    },
  })
  const icons = route({
    id: 'guides.agentIcons',
    method: 'GET',
    path: '/llms/agent-icons.txt',
    summary: 'List the icons of agents, as plain text',
    who: [board, agent],
    responses: { 200: 'text/plain' },
    run: () => text(iconGuide()),
  })
  return [
    configuration,
    adapter,
    icons,
    // Aliases for existing clients, which read the guides below /api.
    alias(configuration, { id: 'guides.agentConfigurationAlias', path: '/api/llms/agent-configuration.txt' }),
    alias(adapter, { id: 'guides.adapterAlias', path: '/api/llms/agent-configuration/:adapterType.txt' }),
    alias(icons, { id: 'guides.agentIconsAlias', path: '/api/llms/agent-icons.txt' }),
  ]
}

const text = (guide: string) => reply(200, guide, { 'content-type': 'text/plain; charset=utf-8' })
