import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

interface ButtonProps {
  children?: ComponentChildren
  onClick?: (event: MouseEvent) => void
  kind?: 'plain' | 'primary' | 'danger' | 'quiet'
  icon?: string
  /** The keyboard shortcut of the action, displayed beside the text. */
  hint?: string
  /** The accessible name of a button without text. */
  label?: string
  href?: string
  type?: 'button' | 'submit'
  /** The id of the form that the button submits, if the button is outside the form. */
  form?: string
  isDisabled?: boolean
  /** Whether the button receives the focus when its dialog opens. */
  autoFocus?: boolean
  isPressed?: boolean
  class?: string
}

/** A button, or a link that looks like one. Its text starts with a verb. */
export function Button({ children, onClick, kind = 'plain', icon, hint, label, href, ...more }: ButtonProps) {
  const content = (
    <>
      {icon && <Icon svg={icon} />}
      {children && <span>{children}</span>}
      {hint && <kbd aria-hidden="true">{hint}</kbd>}
    </>
  )
  const shape = `button ${kind}${children ? '' : ' bare'} ${more.class ?? ''}`
  const name = label ? { 'aria-label': label, title: label } : {}
  if (href !== undefined) {
    return (
      <a class={shape} href={href} onClick={onClick} {...name}>
        {content}
      </a>
    )
  }
  return (
    <button
      type={more.type ?? 'button'}
      form={more.form}
      class={shape}
      onClick={onClick}
      disabled={more.isDisabled}
      autofocus={more.autoFocus}
      {...(more.isPressed !== undefined && { 'aria-pressed': more.isPressed })}
      {...name}
    >
      {content}
    </button>
  )
}
