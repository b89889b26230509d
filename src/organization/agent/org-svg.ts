import type { OrgNode } from './org.ts'

const BOX = { width: 176, height: 52 }
const GAP = { across: 24, down: 40 }
const MARGIN = 16
/** The maximum number of characters of a name in a box. */
const SHOWN_CHARACTERS = 22

interface Box {
  node: OrgNode
  x: number
  y: number
  reports: Box[]
}

/** Draws the reporting tree: each manager is centered above its direct reports. */
export function drawOrg(tops: readonly OrgNode[]): string {
  let leaves = 0
  let depth = 0

  const lay = (node: OrgNode, level: number): Box => {
    depth = Math.max(depth, level + 1)
    const reports = node.reports.map((report) => lay(report, level + 1))
    const x = reports.length ? (reports[0]!.x + reports.at(-1)!.x) / 2 : MARGIN + leaves++ * (BOX.width + GAP.across)
    return { node, x, y: MARGIN + level * (BOX.height + GAP.down), reports }
  }
  const boxes = tops.map((top) => lay(top, 0))
  const width = 2 * MARGIN + Math.max(leaves, 1) * (BOX.width + GAP.across) - GAP.across
  const height = 2 * MARGIN + Math.max(depth, 1) * (BOX.height + GAP.down) - GAP.down
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">
<title>Org chart</title>
${boxes.flatMap(drawBox).join('\n')}
</svg>
`
}

function drawBox(box: Box): string[] {
  const { node, x, y } = box
  const middle = x + BOX.width / 2
  const lines = box.reports.map(
    (report) =>
      `<path d="M${middle} ${y + BOX.height}v${GAP.down / 2}H${report.x + BOX.width / 2}V${report.y}" fill="none" stroke="#8a8f98"/>`,
  )
  return [
    ...lines,
    `<rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="8" fill="#fff" stroke="#8a8f98"/>`,
    `<text x="${middle}" y="${y + 22}" text-anchor="middle" font-weight="600" fill="#1c1e21">${shortened(node.name)}</text>`,
    `<text x="${middle}" y="${y + 40}" text-anchor="middle" fill="#5b616b">${shortened(`${node.title ?? node.role} · ${node.status}`)}</text>`,
    ...box.reports.flatMap(drawBox),
  ]
}

function shortened(text: string): string {
  const characters = [...text]
  const displayed =
    characters.length > SHOWN_CHARACTERS ? `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…` : text
  return displayed.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
