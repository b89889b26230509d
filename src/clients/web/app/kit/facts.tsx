import type { ComponentChildren } from 'preact'

/** Names and values in two columns. An undefined value is omitted together with its name. */
export function Facts({ rows, label }: { rows: readonly (readonly [string, ComponentChildren])[]; label?: string }) {
  return (
    <dl class="facts-list" aria-label={label}>
      {rows.map(
        ([name, value]) =>
          value !== undefined &&
          value !== null &&
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
