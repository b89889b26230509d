/** An icon of lucide-static, 16 px, in the text color. It is decorative: a text or a label names it. */
export function Icon({ svg, label, size = 16 }: { svg: string; label?: string; size?: number }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      {...(label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': 'true' })}
      dangerouslySetInnerHTML={{ __html: svg }}
    />
  )
}
