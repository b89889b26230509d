import { hierarchy, tree } from 'd3-hierarchy'
import type { Received } from '../../state/api.ts'

export type OrgNode = Received<'GET /api/companies/:companyId/org'>[number]

export const NODE = { width: 200, height: 60, gapX: 24, gapY: 48 }

/** Computes the layout of the agent tree, from the top down. */
export function layoutOrg(roots: readonly OrgNode[]) {
  const all = hierarchy<{ id: string; node?: OrgNode }>({ id: '' }, ({ id, node }) =>
    (id === '' ? roots : (node?.reports ?? [])).map((one) => ({ id: one.id, node: one })),
  )
  const placed = tree<{ id: string; node?: OrgNode }>()
    .nodeSize([NODE.width + NODE.gapX, NODE.height + NODE.gapY])
    .separation(() => 1)(all)
  const nodes = placed.descendants().filter(({ data }) => data.node !== undefined)
  const left = Math.min(...nodes.map(({ x }) => x))
  const spots = nodes.map((one) => ({
    node: one.data.node!,
    parentId: one.parent?.data.id || undefined,
    x: one.x - left,
    y: (one.depth - 1) * (NODE.height + NODE.gapY),
  }))
  return {
    spots,
    width: Math.max(...spots.map(({ x }) => x)) + NODE.width,
    height: Math.max(...spots.map(({ y }) => y)) + NODE.height,
  }
}
