interface Warning {
  message: string
  path?: string | null
}

/** The number of files that are named. Further files are counted. */
const NAMED = 3

/** The warnings of an import or an export. Each message is displayed once, with its files. */
export function Warnings({ list }: { list: readonly Warning[] }) {
  if (list.length === 0) return null
  const byMessage = Map.groupBy(list, ({ message }) => message)
  return (
    <ul class="package-warnings" aria-label="Warnings">
      {[...byMessage].map(([message, group]) => {
        const paths = group.flatMap(({ path }) => path ?? [])
        return (
          <li key={message} title={paths.join('\n')}>
            {message}
            {paths.length > 0 && (
              <span class="mono">
                {' '}
                {paths.slice(0, NAMED).join(', ')}
                {paths.length > NAMED && ` and ${paths.length - NAMED} more`}
              </span>
            )}
          </li>
        )
      })}
    </ul>
  )
}
