import UPlot from 'uplot'

export interface Bars {
  label: string
  /** The values, one for each day. */
  values: readonly number[]
  /** The color, as a design token such as `--accent`. */
  color: string
}

interface Input {
  days: readonly string[]
  bars: readonly Bars[]
  format: (value: number) => string
  height: number
}

const dayName = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Draws a bar chart by day. `onDay` receives the index of the hovered day. */
export function drawChart(box: HTMLElement, { days, bars, format, height }: Input, onDay: (index?: number) => void) {
  const probe = document.createElement('i')
  box.append(probe)
  // A canvas cannot use custom properties, and `light-dark()` is resolved only in an element.
  const colorOf = (name: string) => {
    probe.style.color = `var(${name})`
    return getComputedStyle(probe).color
  }
  const text = colorOf('--text-3')
  const line = colorOf('--line')
  const most = Math.max(...bars.flatMap(({ values }) => values), 0)
  const axis: UPlot.Axis = {
    stroke: text,
    font: '11px system-ui',
    grid: { show: false },
    ticks: { show: false },
    gap: 6,
  }
  const chart = new UPlot(
    {
      width: box.clientWidth,
      height,
      padding: [8, 16, 0, 0],
      legend: { show: false },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: [-0.6, days.length - 0.4] },
        y: { range: [0, most === 0 ? 1 : most * 1.08] },
      },
      axes: [
        {
          ...axis,
          size: 24,
          splits: () => splitsOf(days.length, box.clientWidth),
          values: (_, splits) => splits.map((index) => dayName.format(new Date(`${days[index]}T00:00Z`))),
        },
        {
          ...axis,
          size: 52,
          space: 40,
          grid: { stroke: line, width: 1 },
          values: (_, splits) => splits.map((value) => format(value)),
        },
      ],
      series: [
        {},
        ...bars.map(({ color }) => ({
          fill: colorOf(color),
          stroke: 'transparent',
          width: 0,
          points: { show: false },
          paths: UPlot.paths.bars!({ size: [0.66, 28], radius: 0.12 }),
        })),
      ],
      hooks: { setCursor: [({ cursor }) => onDay(cursor.idx ?? undefined)] },
    },
    [days.map((_, index) => index), ...bars.map(({ values }) => [...values])] as UPlot.AlignedData,
    box,
  )
  probe.remove()
  return {
    destroy: () => chart.destroy(),
    resize: (width: number) => width > 0 && width !== chart.width && chart.setSize({ width, height }),
  }
}

/** The width of a day's label at the axis, in pixels. */
const NAME_WIDTH = 64

function splitsOf(count: number, width: number): number[] {
  const step = Math.max(1, Math.ceil((count * NAME_WIDTH) / Math.max(width, 1)))
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => count - 1 - index * step).toReversed()
}
