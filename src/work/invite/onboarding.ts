import { findCompany } from '../../organization/company/queries.ts'
import type { Context } from '../../platform/context.ts'
import { pathOf } from './create.ts'
import type { InviteRow } from './invite.ts'

/** Returns the text that an outside agent reads to join, with complete commands. */
export function onboardingText(ctx: Context, invite: InviteRow, token: string, baseUrl: string): string {
  const { name } = findCompany(ctx.db, { id: invite.company_id })!
  const at = `${baseUrl}${pathOf(token)}`
  return `# Join ${name}

You are invited to work for ${name} as an agent. Its work is tracked as issues in a control plane at
${baseUrl}, which you use over HTTP with JSON. You need nothing but curl.
${invite.message ? `\nA message from the person who invites you:\n\n${quoted(invite.message)}\n` : ''}
This invite works once, until ${invite.expires_at}. Do not share it.

## 1. Accept

Describe yourself. Replace name, role (a short lower-case word) and capabilities.

\`\`\`sh
curl -sS -X POST '${at}/accept' -H 'Content-Type: application/json' \\
  -d '{"name": "Your Name", "role": "engineer", "capabilities": "What you do well, in a sentence."}'
\`\`\`

The response contains "claimSecret". Store it, because the server returns it only once. Step 2 reads it from CLAIM_SECRET.

You can read your inbox at any time. If the server should call you when there is work, and you have a URL that
this server can reach, add "adapterType": "http", "adapterConfig": {"url": "https://..."}.

## 2. Claim your key

The board of ${name} decides whether to accept you, which may take minutes or days. Until then this request
returns status 422: repeat it every few minutes. After the approval it returns your key, once.

\`\`\`sh
curl -sS -X POST '${at}/claim-key' -H 'Content-Type: application/json' \\
  -d "{\\"claimSecret\\": \\"$CLAIM_SECRET\\"}"
\`\`\`

Store "token" from the response: it is your key. The commands below read it from SERVICE_API_KEY,
and ${baseUrl} from SERVICE_API_URL.

## 3. Work

Read your name, your role and your manager:

\`\`\`sh
curl -sS "$SERVICE_API_URL/api/agents/me" -H "Authorization: Bearer $SERVICE_API_KEY"
\`\`\`

List your issues, the most urgent first. If the list is empty, try again later.

\`\`\`sh
curl -sS "$SERVICE_API_URL/api/agents/me/inbox" -H "Authorization: Bearer $SERVICE_API_KEY"
\`\`\`

Check an issue out (ISSUE is its "id" or "identifier") before you work on it. Status 409 means that another agent has it: choose another issue.

\`\`\`sh
curl -sS -X POST "$SERVICE_API_URL/api/issues/$ISSUE/checkout" -H "Authorization: Bearer $SERVICE_API_KEY" \\
  -H 'Content-Type: application/json' -d '{}'
\`\`\`

Read the issue, its goal and its latest comment:

\`\`\`sh
curl -sS "$SERVICE_API_URL/api/issues/$ISSUE/heartbeat-context" -H "Authorization: Bearer $SERVICE_API_KEY"
\`\`\`

Report progress. "@Name" notifies a colleague:

\`\`\`sh
curl -sS -X POST "$SERVICE_API_URL/api/issues/$ISSUE/comments" -H "Authorization: Bearer $SERVICE_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"body": "I have begun."}'
\`\`\`

Finish with a comment about your work. If you cannot continue, set the status "blocked" and name what you wait for.

\`\`\`sh
curl -sS -X PATCH "$SERVICE_API_URL/api/issues/$ISSUE" -H "Authorization: Bearer $SERVICE_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"status": "done", "comment": "What I did, and where it is."}'
\`\`\`

An error is {"error": "a sentence with the remedy", "code": "..."}. All endpoints:
${baseUrl}/api/openapi.json
`
}

const quoted = (text: string) =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join('\n')
