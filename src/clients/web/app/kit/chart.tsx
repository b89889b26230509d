import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Bars } from './draw-chart.ts'

interface ChartProps {
  /** The text alternative of the chart. */
  label: string
  /** The days in ascending order, such as `2026-11-22`. */
  days: readonly string[]
  /** The series. A series that is a part of another one comes after it, because the last one is drawn in front. */
  bars: readonly Bars[]
  format: (value: number) => string
  height?: number
}

const dayName = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})

/** A bar chart by day. The line above has the values of the hovered day. The chart library loads on first use. */
export function Chart({ label, days, bars, format, height = 160 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const at = useSignal<number | undefined>(undefined)
  const key = JSON.stringify([days, bars.map(({ values }) => values)])
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    let chart: { destroy(): void; resize(width: number): void } | undefined
    let isGone = false
    const draw = async () => {
      const { drawChart } = await import('./draw-chart.ts')
      if (isGone || !box.current) return
      chart?.destroy()
      chart = drawChart(box.current, { days, bars, format, height }, (index) => {
        at.value = index
      })
    }
    void draw()
    const onTheme = () => void draw()
    dark.addEventListener('change', onTheme)
    const observer = new ResizeObserver(() => chart?.resize(box.current?.clientWidth ?? 0))
    observer.observe(box.current!)
    return () => {
      isGone = true
      dark.removeEventListener('change', onTheme)
      observer.disconnect()
      chart?.destroy()
    }
  }, [key, height])
  const index = at.value
  const say = (values: readonly number[]) =>
    format(index === undefined ? values.reduce((sum, value) => sum + value, 0) : (values[index] ?? 0))
  return (
    <figure class="chart">
      <figcaption>
        <b>{label}</b>
        <span class="chart-figures">
          {bars.map((one) => (
            <span key={one.label}>
              <span class="dot" style={{ background: `var(${one.color})` }} /> {one.label}{' '}
              <span class="num">{say(one.values)}</span>
            </span>
          ))}
        </span>
        <span class="note">
          {index === undefined
            ? days.length === 1
              ? '1 day'
              : `${days.length} days`
            : dayName.format(new Date(`${days[index]}T00:00Z`))}
        </span>
      </figcaption>
      <div ref={box} style={{ height: `${height}px` }} aria-hidden="true" />
      <table class="hidden">
        <caption>{label}</caption>
        <tbody>
          {days.map((day, row) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {bars.map((one) => (
                <td key={one.label}>
                  {one.label} {format(one.values[row] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
