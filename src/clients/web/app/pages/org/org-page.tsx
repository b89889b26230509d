import plus from 'lucide-static/icons/plus.svg'
import { useLocation } from 'preact-iso'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { money, spendOf, words } from '../../kit/format.ts'
import { Page } from '../../kit/page.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { request } from '../../state/api.ts'
import { agents, companyIdNow, may, pathTo } from '../../state/company.ts'
import { openNewAgent } from '../../state/dialogs.ts'
import { useQuery } from '../../state/query.ts'
import { STATE_NAME, stateOf } from '../agents/state.tsx'
import { layoutOrg, NODE, type OrgNode } from './layout.ts'

/** The org chart: managers, reports, and the current work and spend of each agent. */
export function OrgPage() {
  const query = useQuery(
    'org',
    () => request('GET /api/companies/:companyId/org', { params: { companyId: companyIdNow() } }),
    ({ data }) => data.entityType === 'agent',
  )
  return (
    <Page
      title="Org"
      layout="list"
      actions={
        may('admin') && (
          <Button icon={plus} onClick={openNewAgent}>
            Hire
          </Button>
        )
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={6} height={60} />}>
        {(roots) =>
          roots.length === 0 ? (
            <Empty
              title="No agents yet."
              action={
                may('admin') && (
                  <Button kind="primary" onClick={openNewAgent}>
                    Hire the first agent
                  </Button>
                )
              }
            />
          ) : (
            <Chart roots={roots} />
          )
        }
      </Loaded>
    </Page>
  )
}

function Chart({ roots }: { roots: readonly OrgNode[] }) {
  const { spots, width, height } = layoutOrg(roots)
  const at = new Map(spots.map((spot) => [spot.node.id, spot]))
  return (
    <div class="org" tabIndex={-1}>
      <div class="org-canvas" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          {spots.map(({ node, parentId, x, y }) => {
            const parent = at.get(parentId ?? '')
            if (!parent) return null
            const from = { x: parent.x + NODE.width / 2, y: parent.y + NODE.height }
            const to = { x: x + NODE.width / 2, y }
            const middle = from.y + NODE.gapY / 2
            return <path key={node.id} d={`M${from.x} ${from.y}V${middle}H${to.x}V${to.y}`} />
          })}
        </svg>
        {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a tree of list items is how ARIA's authoring guide builds one. */}
        <ul role="tree" aria-label="Org chart" onKeyDown={onArrow}>
          {roots.map((node, index) => (
            <Item key={node.id} node={node} level={1} at={at} isFirst={index === 0} />
          ))}
        </ul>
      </div>
    </div>
  )
}

interface ItemProps {
  node: OrgNode
  level: number
  at: ReadonlyMap<string, { x: number; y: number }>
  isFirst?: boolean
}

function Item({ node, level, at, isFirst = false }: ItemProps) {
  const { route } = useLocation()
  const agent = agents.get(node.id)
  const { x, y } = at.get(node.id)!
  const status = agent?.status ?? node.status
  const state = agent ? stateOf(agent) : node.status
  const href = pathTo(`agents/${agent?.urlKey ?? node.id}`)
  return (
    <li
      role="treeitem"
      aria-level={level}
      {...(node.reports.length > 0 && { 'aria-expanded': true })}
      aria-label={`${node.name}, ${node.title ?? words(node.role)}, ${STATE_NAME[state]}`}
      tabIndex={isFirst ? 0 : -1}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.target !== event.currentTarget) return
        event.preventDefault()
        route(href)
      }}
    >
      <a class="org-node" href={href} tabIndex={-1} style={{ left: `${x}px`, top: `${y}px` }}>
        <Avatar name={node.name} status={status} size={32} />
        <span class="org-text">
          <b class="clip">{node.name}</b>
          <span class="note clip">{node.title ?? words(node.role)}</span>
          <span class={`note org-state ${state}`}>
            {STATE_NAME[state]}
            {agent && agent.spentMonthlyCents > 0 && (
              <span class="num" title={spendOf(agent)}>
                {money(agent.spentMonthlyCents)}
              </span>
            )}
          </span>
        </span>
      </a>
      {node.reports.length > 0 && (
        <ul role="group">
          {node.reports.map((one) => (
            <Item key={one.id} node={one} level={level + 1} at={at} />
          ))}
        </ul>
      )}
    </li>
  )
}

/** Moves the focus: up and down in reading order, left to the manager, right to the first report. */
function onArrow(event: KeyboardEvent): void {
  const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=treeitem]')]
  const current = (event.target as HTMLElement).closest<HTMLElement>('[role=treeitem]')
  const index = items.indexOf(current!)
  const next =
    event.key === 'ArrowDown' || event.key === 'j'
      ? items[index + 1]
      : event.key === 'ArrowUp' || event.key === 'k'
        ? items[index - 1]
        : event.key === 'ArrowRight'
          ? current?.querySelector<HTMLElement>('[role=treeitem]')
          : event.key === 'ArrowLeft'
            ? current?.parentElement?.closest<HTMLElement>('[role=treeitem]')
            : undefined
  if (!next) return
  event.preventDefault()
  event.stopPropagation()
  next.focus()
}
