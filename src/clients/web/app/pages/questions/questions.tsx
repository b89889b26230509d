import { Loaded, Skeleton } from '../../kit/states.tsx'
import { request } from '../../state/api.ts'
import { useQuery } from '../../state/query.ts'
import type { Issue } from '../../state/types.ts'
import { Question } from './question.tsx'

/** The questions of agents on an issue that are not answered yet. */
export function Questions({ issue }: { issue: Issue }) {
  const query = useQuery(
    `questions/${issue.id}`,
    () =>
      request('GET /api/issues/:issueId/interactions', {
        params: { issueId: issue.id },
        query: { status: 'pending' },
      }),
    ({ type, data }) => type.startsWith('interaction.') || data.entityId === issue.id,
  )
  const list = query.data.value ?? []
  if (list.length === 0) return null
  return (
    <section class="rows" aria-label="Questions">
      {list.map((one) => (
        <Question key={one.id} interaction={one} />
      ))}
    </section>
  )
}

/** A single question, given by its id. */
export function QuestionById({ issueId, interactionId }: { issueId: string; interactionId: string }) {
  const query = useQuery(`questions/${issueId}/${interactionId}`, () =>
    request('GET /api/issues/:issueId/interactions/:interactionId', { params: { issueId, interactionId } }),
  )
  return (
    <Loaded query={query} skeleton={<Skeleton rows={3} />}>
      {(interaction) => <Question interaction={interaction} />}
    </Loaded>
  )
}
