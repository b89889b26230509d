import * as v from 'valibot'

import { approvalTools } from './approval-tools.ts'
import { companyTools } from './company-tools.ts'
import { documentTools } from './document-tools.ts'
import { issueTools } from './issue-tools.ts'
import { type Tool, tool } from './tool.ts'

/** The number of characters of a response that `api_request` returns. */
const RESPONSE_LIMIT = 40_000

const apiRequest = tool({
  name: 'api_request',
  description:
    'Send any request to the API, where no other tool fits. GET /llms/agent-configuration.txt and GET /api/openapi.json describe it.',
  input: {
    method: v.picklist(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']),
    path: v.pipe(
      v.string(),
      v.regex(/^\/(api|llms)\//, 'must begin with /api/ or /llms/'),
      v.description('With its query, such as /api/issues/TER-1.'),
    ),
    body: v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description('The JSON body.'))),
  },
  async run(client, { method, path, body }) {
    // The types of the client describe known endpoints; this one is the caller's choice.
    const request = client.request as unknown as (name: string, options: object) => Promise<unknown>
    const response = await request(`${method} ${path.replaceAll(':', '%3A')}`, { ...(body !== undefined && { body }) })
    const text = typeof response === 'string' ? response : JSON.stringify(response ?? null)
    return text.length > RESPONSE_LIMIT
      ? `${text.slice(0, RESPONSE_LIMIT)}\n… cut: ${text.length} characters in all. Ask for less with \`limit\`.`
      : text
  },
})

/** Every tool of the MCP server. */
export const TOOLS: readonly Tool[] = [...companyTools, ...issueTools, ...documentTools, ...approvalTools, apiRequest]
