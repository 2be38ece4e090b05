# Ringside's integration for fish, which has read the user's own files before. See integration.h.
set -g __rs_n @NONCE@
set -g __rs_h /proc/(string match -r '\) \S (\d+)' <"/proc/$fish_pid/stat")[2]/fd
set -g __rs_id ''
set -g __rs_rc 0
set -g __rs_sp 0
set -g __rs_an ''
set -g __rs_got ''
set -g __rs_pr 0
set -g __rs_ps 0
set -g __rs_bash (command -s bash; or builtin echo /bin/bash)

# builtin printf writes in pieces, builtin echo does not.
function __rs_mark
    builtin echo -n \e"]133;$argv[1]"\a"$argv[2]" >/dev/tty
end

function __rs_tell
    builtin echo -n (string join \x1f -- $argv | string collect)\x1e >>$__rs_h/7
end

function __rs_where
    set -g __rs_w "$PWD"
    if test (string length -- "$PWD") -ge 900; or string match -qr '[[:cntrl:]]' -- "$PWD"
        set -g __rs_w ''
    end
end

# Write the exported variables, as bash code.
function __rs_exported
    for __rs_v in (set -nx)
        string match -qr '^[A-Za-z_][A-Za-z0-9_]*$' -- $__rs_v; or continue
        set -l __rs_t "$$__rs_v"
        string match -q '*PATH' -- $__rs_v; and set __rs_t (string join : -- $$__rs_v | string collect)
        builtin echo "declare -x $__rs_v='"(string replace -a "'" "'\\''" -- $__rs_t | string collect)"'"
    end >$__rs_h/6
end

function __rs_status
    return $__rs_rc
end

function __rs_return
    return $argv[1]
end

function __rs_keep
    set -g __rs_st $pipestatus
    set -g __rs_got 1
end

function __rs_load
    set -g __rs_rc $status
    set -l __rs_m
    builtin read -z -n 35 -g __rs_q
    builtin read -z __rs_m <$__rs_h/5
    set __rs_m (string split -m1 \n -- $__rs_m | string collect)
    set __rs_m (string split -m1 \n -- $__rs_m)
    if not string match -qr '^ #[0-9a-z]{32}\r$' -- $__rs_q; or test -z "$__rs_m[2..]"
        # Without the seal its end cannot be proven, so it is not run.
        set -g __rs_q ''
        return
    end
    set -g __rs_sl (builtin commandline -b | string collect)
    set -g __rs_sp (builtin commandline -C)
    set -g __rs_u ''
    set -g __rs_got ''
    builtin eval (string join \n -- $__rs_m[2..] | string collect)
    builtin commandline -r -- ' builtin eval $__rs_x'
    builtin commandline -f execute
end

function __rs_back
    set -l __rs_t (builtin commandline -b | string collect)
    builtin commandline -r -- (string sub -l $__rs_sp -- "$__rs_sl")"$__rs_t"(string sub -s (builtin math $__rs_sp + 1) -- "$__rs_sl")
    builtin commandline -C (builtin math $__rs_sp + (string length -- "$__rs_t"))
    set -g __rs_sl ''
    set -g __rs_sp 0
end

function __rs_write
    __rs_exported
    __rs_tell S $__rs_n state ''
end

# Print the bytes that follow the key, which undo the terminal modes that a program has left.
function __rs_undo
    builtin read -z -n 160 -l __rs_t
    set __rs_t (string split -m1 ' ' -- $__rs_t)[1]
    set __rs_t (string replace -a E \e -- $__rs_t | string replace -a O \x0f)
    builtin echo -n $__rs_t >/dev/tty
    builtin commandline -f repaint
end

# Wait until the holder has read its descriptors 8 and 9. fish itself cannot check that.
function __rs_drain
    command $__rs_bash -c 'for ((i = 0; i < 20000; i++)); do read -t 0 <"$0/8" || read -t 0 <"$0/9" || exit; done' $__rs_h 2>/dev/null
end

function __rs_before
    builtin echo -n \e"[$argv[1]A"\e"[$argv[2]G"\e"[J$__rs_v"\n\e"]133;C;aid=$__rs_n;id=$__rs_i"\a >/dev/tty
    set -g __rs_x ''
    set -g __rs_v ''
    set -g __rs_id $__rs_i
    set -g __rs_d "$__rs_i;q="(string sub -s 3 -l 16 -- $__rs_q)
    set -g __rs_q "$__rs_i;q="(string sub -s 19 -l 16 -- $__rs_q)
    __rs_tell C $__rs_n $__rs_i (string length -- "$__rs_sl")
    return $__rs_rc
end

function __rs_after
    set -g __rs_rc $argv[1]
    test -n "$__rs_got"; or set -g __rs_st $__rs_rc
    set -g __rs_c ''
    set -g __rs_got ''
    test -z "$__rs_u"; or builtin cd -- $__rs_u
    test -z "$__rs_p"; or __rs_drain
    __rs_where
    __rs_mark "D;$__rs_rc;aid=$__rs_n;id=$__rs_d" $__rs_p
    __rs_tell D $__rs_n "$__rs_q" $__rs_rc "$__rs_st" "$__rs_w"
    set -g __rs_id ''
    set -g __rs_d ''
    set -g __rs_q ''
    set -g __rs_an 1
    return $__rs_rc
end

# Lines that people enter
function __rs_preexec --on-event fish_preexec
    test "$argv[1]" != ' builtin eval $__rs_x'; or return
    set -l __rs_t "$argv[1]"
    if test (string length -- $__rs_t) -lt 900; and not string match -qr '[\x1e\x1f]' -- $__rs_t
        __rs_tell L $__rs_n line $__rs_t
    end
    __rs_mark "C;aid=$__rs_n"
end

function __rs_postexec --on-event fish_postexec
    set -g __rs_ps $pipestatus
    set -g __rs_pr $__rs_ps[-1]
    test -n "$__rs_an"; or __rs_mark "D;$__rs_pr;aid=$__rs_n;id=$__rs_d"
end

function __rs_prompted --on-event fish_prompt
    set -l __rs_s $status
    set -l __rs_r ''
    set -l __rs_t $__rs_ps
    test "$__rs_pr" = $__rs_s; or set __rs_t $__rs_s
    if test -n "$__rs_id"
        test -z "$__rs_u"; or builtin cd -- $__rs_u
        __rs_mark "D;$__rs_s;aid=$__rs_n;id=$__rs_d" \e'[m'
        set __rs_r $__rs_q
        set -g __rs_id ''
        set -g __rs_d ''
        set -g __rs_q ''
    end
    set -g __rs_an ''
    __rs_wrap
    __rs_exported
    __rs_where
    __rs_tell P $__rs_n $__rs_s "$__rs_r" "$__rs_w" "$__rs_t"
end

# Put marks around the user's prompt.
function __rs_wrap
    if not builtin functions -q fish_prompt; or string match -q '*__rs_user_prompt*' -- (builtin functions fish_prompt | string collect)
        return
    end
    builtin functions -q __rs_user_prompt; and builtin functions -e __rs_user_prompt
    builtin functions -c fish_prompt __rs_user_prompt
    function fish_prompt
        set -l __rs_s $pipestatus
        builtin echo -n \e"]133;A;aid=$__rs_n"\a
        builtin eval (string join ' | ' -- '__rs_return '$__rs_s)
        __rs_user_prompt
        builtin echo -n \e"]133;B;aid=$__rs_n"\a
    end
end

for __rs_v in default insert visual replace replace_one
    builtin bind -M $__rs_v \e\[57399\;17~ __rs_load
    builtin bind -M $__rs_v \e\[57399\;19~ __rs_back
    builtin bind -M $__rs_v \e\[57399\;21~ __rs_write
    builtin bind -M $__rs_v \e\[57399\;23~ __rs_undo
end
set -e __rs_v
