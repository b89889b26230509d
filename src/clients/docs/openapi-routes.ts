import * as v from 'valibot'
import { anyone } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { openapiDocument } from '../../http/openapi.ts'
import type { Endpoint } from '../../http/route.ts'
import type { Config } from '../../platform/config.ts'
import { COMPONENTS } from './components.ts'

/** Creates the endpoint that returns the OpenAPI document. The document is built once for each server. */
export function openapiRoutes(endpoints: () => readonly Endpoint[]) {
  const documents = new WeakMap<Config, unknown>()
  return [
    route({
      id: 'openapi.get',
      method: 'GET',
      path: '/api/openapi.json',
      summary: 'Get the OpenAPI 3.1 document of this API',
      who: [anyone],
      responses: { 200: v.record(v.string(), v.unknown()) },
      run: ({ config, signIn: { cookies } }) => {
        const cookie = config.mode === 'local_trusted' ? cookies.local : cookies.session
        if (!documents.has(config)) documents.set(config, openapiDocument(endpoints(), COMPONENTS, config, cookie))
        return documents.get(config)
      },
    }),
  ]
}
