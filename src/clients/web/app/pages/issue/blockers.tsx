import plus from 'lucide-static/icons/plus.svg'
import x from 'lucide-static/icons/x.svg'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Picker } from '../../kit/menu.tsx'
import { OPEN, StatusGlyph } from '../../kit/status.tsx'
import { request } from '../../state/api.ts'
import { companyIdNow, issues, may, pathTo } from '../../state/company.ts'
import type { Issue } from '../../state/types.ts'
import { changeIssue } from '../issues/change.ts'

/** Loads open issues that may block the issue: the most urgent ones, or those that match a text. */
async function loadCandidates(text: string): Promise<void> {
  const q = text.trim()
  const query = { status: OPEN.join(','), limit: 20, ...(q !== '' && { q }) }
  const found = await request('GET /api/companies/:companyId/issues', {
    params: { companyId: companyIdNow() },
    query,
  }).catch(() => [])
  issues.put(...found)
}

/** The issues that block this issue, and the issues that it blocks. */
export function Blockers({ issue }: { issue: Issue }) {
  const ids = issue.blockedBy.map(({ id }) => id)
  const options = issues.all.value
    .filter(({ id, status }) => id !== issue.id && !ids.includes(id) && status !== 'done' && status !== 'cancelled')
    .map(({ id, identifier, title, status }) => ({
      value: id,
      label: `${identifier} ${title}`,
      icon: <StatusGlyph status={status} />,
    }))
  return (
    <dl>
      <dt>Blocked by</dt>
      <dd class="refs">
        {issue.blockedBy.map((one) => (
          <span key={one.id} class="ref">
            <StatusGlyph status={one.status} />
            <a href={pathTo(`issues/${one.identifier}`)} title={one.title}>
              <span class="id">{one.identifier}</span> {one.title}
            </a>
            {may('member') && (
              <Button
                kind="quiet"
                icon={x}
                label={`Remove the blocker ${one.identifier}`}
                onClick={() => void changeIssue(issue, { blockedByIssueIds: ids.filter((id) => id !== one.id) })}
              />
            )}
          </span>
        ))}
        {may('member') && (
          <Picker
            label="Add a blocker"
            options={options}
            onSearch={(text) => void loadCandidates(text)}
            onPick={(id) => void changeIssue(issue, { blockedByIssueIds: [...ids, id] })}
          >
            <Icon svg={plus} size={14} /> <span class="none">{issue.blockedBy.length === 0 ? 'Nothing' : 'Add'}</span>
          </Picker>
        )}
      </dd>
      {issue.blocks.length > 0 && (
        <>
          <dt>Blocks</dt>
          <dd class="refs">
            {issue.blocks.map((one) => (
              <span key={one.id} class="ref">
                <StatusGlyph status={one.status} />
                <a href={pathTo(`issues/${one.identifier}`)} title={one.title}>
                  <span class="id">{one.identifier}</span> {one.title}
                </a>
              </span>
            ))}
          </dd>
        </>
      )}
    </dl>
  )
}
