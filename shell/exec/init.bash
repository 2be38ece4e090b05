# Ringside's integration for bash, which then reads the user's own file. See integration.h and integration.c.
# __rs_load and __rs_take run on the key, __rs_before, __rs_go, __rs_keep and __rs_after around a command, __rs_prompt at
# each prompt.
__rs_t=${__rs_qe-}
\unset -v __rs_qe
__rs_qe=${__rs_t//[!0-9]/}
__rs_n=@NONCE@ __rs_f=@PATH@ __rs_b=${EPOCHREALTIME//[!0-9]/}
__rs_pa='\[\e]133;D;$?;aid='$__rs_n';id=${__rs_d-}\a\e]133;A;aid='$__rs_n'\a\]' __rs_pb='\[\e]133;B;aid='$__rs_n'\a\]'
__rs_sa='\[\e]133;P;k=s;aid='$__rs_n'\a\]' __rs_sb='\[\e]133;P;k=e;aid='$__rs_n'\a\]'
# Not 3 and 4: bash opens a pipe there, on which its child waits. If it is interrupted after the fork, it closes the pipe, by
# number, only at the next command, and waits for the child. A copy of the pipe, saved for a redirection, would block both for ever.
__rs_hook='{ __rs_prompt; } 9>&2 2>/dev/null 8>&1 >/dev/null
for __rs_t in "${__rs_no[@]}"; do { __rs_re=1; __rs_slow; __rs_prompt; } 9>&2 2>/dev/null 8>&1 >/dev/null; done'
__rs_line=' \builtin eval "$__rs_x"; { __rs_end "$__rs_la" && __rs_z() (x); } 2>/dev/null'
# Sets all variables that are not readonly, also again after users have unset them.
__rs_all='__rs_ok=1 __rs_id= __rs_d=() __rs_q=() __rs_u= __rs_ho= __rs_h= __rs_sl= __rs_sp=0 __rs_bf= __rs_xt= __rs_dt= __rs_sw= __rs_re=
__rs_aw= __rs_lw= __rs_kb= __rs_kn= __rs_nt= __rs_up= __rs_to= __rs_an= __rs_en=1 __rs_ev= __rs_ed= __rs_i= __rs_k= __rs_pl= __rs_p= __rs_c= __rs_v= __rs_x= __rs_m=() __rs_bind= __rs_hn= __rs_hi= __rs_hs= __rs_hd= __rs_ha=99 __rs_p0= __rs_p1= __rs_p2='
\readonly __rs_n __rs_f __rs_b __rs_pa __rs_pb __rs_sa __rs_sb __rs_hook __rs_line __rs_all
\eval "$__rs_all"
__rs_no=() __rs_got= __rs_la=
__rs_s() { :; }
# Called when variables have been unset. Those of the running command are stored in the function __rs_s as well.
__rs_again() {
	\builtin eval "$__rs_all"
	[[ -n ${PWD-} ]] || \builtin cd -P .
	if \builtin declare -F __rs_s >/dev/null; then __rs_s; fi
}
__rs_slow() {
	FUNCNEST= __rs_sw=1 __rs_po=
	[[ -o posix ]] || { __rs_po=:$BASHOPTS:; POSIXLY_CORRECT=y; }
	__rs_t=$(\unset -f declare; \declare -f builtin; \declare -f enable)
	\unset -f builtin enable
	__rs_bf=$(\enable -n)
	\enable builtin
	if [[ -n $__rs_bf ]]; then
		__rs_bf=${__rs_bf//enable -n /}
		\builtin enable : eval printf read mapfile set trap unset history export return cd declare shopt
		__rs_bf="\\builtin enable -n ${__rs_bf//$'\n'/ }"
	fi
	__rs_bf+=$'\n'$__rs_t
	if [[ -n $__rs_po ]]; then
		\builtin unset -v POSIXLY_CORRECT
		[[ $__rs_po == *:inherit_errexit:* ]] || \builtin shopt -u inherit_errexit
		[[ $__rs_po == *:expand_aliases:* ]] || \builtin shopt -u expand_aliases
		[[ $__rs_po == *:interactive_comments:* ]] || \builtin shopt -u interactive_comments
		[[ $__rs_po == *:sourcepath:* ]] || \builtin shopt -u sourcepath
	fi
	FUNCNEST=$__rs_fn __rs_no=()
	[[ -n $__rs_fs ]] || \builtin unset -v FUNCNEST
}
__rs_load() {
	__rs_la=$_ __rs_sl=$READLINE_LINE __rs_sp=$READLINE_POINT
	READLINE_LINE=$__rs_line
	READLINE_POINT=${#READLINE_LINE}
	[[ -n ${__rs_no-} ]] || __rs_fn=${FUNCNEST-} __rs_fs=${FUNCNEST+s}
	__rs_no=(x) FUNCNEST=1
	if \builtin printf '' && \builtin eval '' && \builtin unset -v __rs_z && \builtin set -- "$@"; then __rs_no=(); fi
	FUNCNEST=$__rs_fn
	[[ -n $__rs_fs || -n ${__rs_no-} ]] || \builtin unset -v FUNCNEST
}
__rs_take() {
	[[ -n ${__rs_ok-} ]] || \builtin eval "$__rs_all"
	__rs_x= __rs_dt= __rs_xt= __rs_u= __rs_st= __rs_got= __rs_sw= __rs_q=()
	# Flushing the terminal's queue tears the seal. Give up before the server does, which then types other keys.
	\builtin read -r -t 3 -N 34 '__rs_q[0]' || (($? > 128)) || {
		\builtin enable read
		\builtin read -r -t 3 -N 34 '__rs_q[0]' || (($? > 128)) || __rs_q=()
		\builtin enable -n read
	}
	# Stopped meanwhile, read may have missed the rest, which is there now.
	if ((${#__rs_q} < 34)) && \builtin read -t 0 && \builtin read -r -t 1 -N $((34 - ${#__rs_q})) '__rs_q[1]'; then
		__rs_q=("$__rs_q${__rs_q[1]}")
	fi
	if ! \builtin mapfile -t __rs_m <"/proc/$PPID/fd/5"; then
		\builtin enable mapfile
		\builtin mapfile -t __rs_m <"/proc/$PPID/fd/5"
		\builtin enable -n mapfile
	fi
	__rs_x=${__rs_m[2]-} __rs_ts=${__rs_m[1]-}
	if ((${#__rs_m[@]} > 3)); then
		for __rs_dt in "${__rs_m[@]:3}"; do __rs_xt+=$__rs_dt$'\n'; done
		__rs_dt=${__rs_xt%$'\n'} __rs_xt=
	fi
	__rs_m=()
	if [[ ${#__rs_q} != 34 || $__rs_q != ' #'* || ${__rs_q:2} == *[![:alnum:]]* ]]; then
		# Without the seal its end cannot be proven, so it is not run. Discard the rest of what was typed. The half-typed
		# line comes back when the server asks for a sign.
		[[ $__rs_q == *[$'\r\n']* ]] || for ((__rs_to = 64; __rs_to-- > 0; )); do
			\builtin read -t 0 && \builtin read -r -t 1 -N 1 '__rs_q[1]' && [[ ${__rs_q[1]} != [$'\r\n'] ]] || __rs_to=0
		done
		READLINE_LINE= READLINE_POINT=0 __rs_x= __rs_q=() __rs_to=x
		__rs_t=${__rs_dt:+\\builtin $__rs_dt}$'\n'$__rs_bf __rs_dt= __rs_bf=
		\builtin eval "$__rs_t"
	else
		\builtin eval "$__rs_ts"
		\builtin eval "__rs_s() { __rs_id=$__rs_i __rs_i=$__rs_i __rs_p=$__rs_p __rs_pl=$__rs_pl __rs_q=('$__rs_q') __rs_u=${__rs_u@Q}; }"
		[[ ! -o allexport ]] || \builtin export -nf __rs_s
		if [[ -o history ]]; then
			__rs_ho=1 __rs_h=$__rs_c
			\builtin set +o history
			# For readline, which then leaves out our line: it begins with a space.
			__rs_hc=${HISTCONTROL-} __rs_hs=${HISTCONTROL+s}x
			\builtin printf -v HISTCONTROL ignorespace || __rs_hs=
		fi
		[[ ! -o xtrace ]] || __rs_xt=x
		[[ ! -o verbose ]] || __rs_xt+=v
		[[ -z $__rs_xt ]] || \builtin set +xv
		if [[ -n $__rs_k && $__rs_xt != *v* ]]; then __rs_c+=$'\n'"{ __rs_keep $__rs_k; } 2>/dev/null"; fi
		__rs_c='{ __rs_go "$__rs_la" && { __rs_z() { x; }; }; } 2>/dev/null; '$__rs_c
	fi
}
__rs_before() {
	__rs_rc=$? __rs_t=$1
	# readline has switched verbose on again, so our line and its code have been shown.
	[[ $__rs_xt != *v* ]] || {
		\builtin set +v
		__rs_m=${COLUMNS:-0}
		((__rs_m > 0)) || __rs_m=80
		__rs_t=$((__rs_t + (${#__rs_line} - 1) / __rs_m + (${#__rs_x} - 1) / __rs_m + 2)) __rs_m=()
	}
	\builtin printf '\e[%uA\e[%uG\e[J%s\n\e]133;C;aid=%s;id=%s\a' "$__rs_t" "$2" "$__rs_v" "$__rs_n" "$__rs_i" >/dev/tty
	if [[ -n $__rs_ho ]]; then
		\builtin set -o history
		if [[ -n $__rs_hs ]]; then
			HISTCONTROL=
		else
			# HISTCONTROL is readonly: our line may be in the history.
			\builtin history 1 >|"/proc/$PPID/fd/6"
			IFS=$' \t' \builtin read -r __rs_hd __rs_ts <"/proc/$PPID/fd/6" || __rs_ts=
			[[ $__rs_ts != *'eval "$__rs_x"; { __rs_end'* ]] || \builtin history -d "${__rs_hd%\*}" || \builtin :
			__rs_hd=
		fi
		if [[ -z $__rs_hi && -n $__rs_dt ]]; then
			# A DEBUG trap, such as that of bash-preexec, may read the history: have the command there while it runs.
			\builtin history 1 >|"/proc/$PPID/fd/6"
			IFS=$' \t' \builtin read -r __rs_m __rs_ts <"/proc/$PPID/fd/6" || __rs_m=
			\builtin history -s -- "$__rs_h"
			\builtin history 1 >|"/proc/$PPID/fd/6"
			IFS=$' \t' \builtin read -r __rs_hd __rs_ts <"/proc/$PPID/fd/6" || __rs_hd=
			[[ $__rs_hd != "$__rs_m" ]] || __rs_hd=
			__rs_m=()
		fi
		if [[ -n $__rs_hs ]]; then
			HISTCONTROL=$__rs_hc
			[[ $__rs_hs == s* ]] || \builtin unset -v HISTCONTROL
			__rs_hs=
		fi
		[[ -z $__rs_hi ]] || \builtin history -s -- "$__rs_h"
	fi
	if [[ -n $__rs_lw ]]; then
		IFS= \builtin read -r __rs_kb <"/proc/$$/task/$$/children" || \builtin :
		IFS= \builtin read -r __rs_kn <"/proc/$PPID/task/$PPID/children" || \builtin :
		__rs_kb+=$__rs_kn
	fi
	__rs_ho= __rs_h= __rs_v= __rs_x= __rs_id=$__rs_i __rs_d=("$__rs_i;q=${__rs_q:2:16}") __rs_up=1
	\builtin printf 'C\037%s\037%s\037%s\036' "$__rs_n" "$__rs_i" "${#__rs_sl}" 1<>"/proc/$PPID/fd/7"
}
__rs_go() {
	__rs_up=
	if [[ -n $__rs_xt ]]; then
		__rs_t=$__rs_xt __rs_xt=
		\builtin set "-$__rs_t"
	fi
	if [[ -n $__rs_bf ]]; then
		__rs_t=${__rs_dt:+\\builtin $__rs_dt}$'\n'$__rs_bf __rs_bf= __rs_dt=
		\builtin eval "$__rs_t"
		[[ $__rs_rc == 0 ]]
	elif [[ -n $__rs_dt ]]; then
		__rs_t=$__rs_dt __rs_dt=
		[[ $__rs_rc == 0 ]] || __rs_t+="; \\builtin return $__rs_rc"
		\builtin eval "\\builtin $__rs_t"
	else
		\builtin return "$__rs_rc"
	fi
}
__rs_keep() {
	__rs_rc=$? __rs_st="${PIPESTATUS[@]}" __rs_la=$_ __rs_got=1
	[[ $1 == p ]] || __rs_st=$__rs_rc
}
__rs_end() {
	if [[ -n ${__rs_no-} ]]; then
		FUNCNEST=
		__rs_slow
		__rs_after
	fi
	if [[ -n ${__rs_sw-} ]]; then
		__rs_sw=
		[[ $__rs_rc == 0 ]]
	else
		\builtin return "$__rs_rc"
	fi
}
# Wait up to a quarter of a second for processes that outlive the command and may still write, as those of >(...) do.
# Orphans are children of the holder.
__rs_settle() {
	__rs_nt=late
	[[ -e /proc/$$/task/$$/children ]] && for ((__rs_t = 0; __rs_t < 30; __rs_t++)); do
		__rs_kn= __rs_nt=
		IFS= \builtin read -r __rs_nt <"/proc/$$/task/$$/children" || \builtin :
		IFS= \builtin read -r __rs_kn <"/proc/$PPID/task/$PPID/children" || \builtin :
		__rs_nt+=$__rs_kn
		while [[ $__rs_nt == *' '* && " $__rs_kb" == *" ${__rs_nt%% *} "* ]]; do __rs_nt=${__rs_nt#* }; done
		if [[ -n $__rs_nt ]]; then
			__rs_nt=late __rs_kn=0.01
			((__rs_t > 4)) || __rs_kn=0.002
			# Sleeps without starting a program, because nothing is ever written there.
			\builtin read -r -t "$__rs_kn" __rs_kn <>/dev/ptmx || \builtin :
		else
			__rs_t=30
		fi
	done
}
__rs_where() {
	__rs_w=$PWD
	[[ ${#__rs_w} -lt 900 && $__rs_w != *[[:cntrl:]]* ]] || __rs_w=
}
__rs_after() {
	__rs_t=$? __rs_ts=$_
	[[ -n ${__rs_got-} ]] || __rs_rc=$__rs_t __rs_st=$__rs_t __rs_la=$__rs_ts __rs_got=none
	[[ -n ${__rs_no-} ]] || __rs_fn=${FUNCNEST-} __rs_fs=${FUNCNEST+s}
	__rs_no=(x) FUNCNEST=1
	if \builtin printf '' && \builtin eval '' && \builtin unset -v __rs_z && \builtin read -n 0 __rs_z && \builtin set -- "$@"; then __rs_no=(); fi
	FUNCNEST=
	if [[ -z ${__rs_no-} ]]; then
		[[ -n ${__rs_ok-} ]] || __rs_again
		[[ ${#PROMPT_COMMAND[@]} == "$__rs_hn" && ${PROMPT_COMMAND[__rs_ha]-} == "$__rs_hook" ]] || __rs_hooks
		\builtin eval "$__rs_u"
		__rs_u= __rs_c=
		# The statuses of a pipeline were not saved.
		[[ $__rs_got != none || -z $__rs_pl ]] || __rs_st=
		[[ -z $__rs_hd ]] || \builtin history -d "${__rs_hd%\*}" || \builtin :
		__rs_hd= __rs_nt=
		__rs_where
		__rs_c=away
		if [[ /dev/fd/1 -ef /dev/fd/255 || /dev/fd/1 -ef /dev/fd/0 || /dev/fd/1 -ef /dev/tty ]]; then
			# Earlier writers may still write.
			__rs_c=$__rs_aw
			[[ -z $__rs_aw ]] || __rs_aw= __rs_kb="$$ " __rs_lw=1
		fi
		[[ -z $__rs_lw ]] || __rs_settle || \builtin :
		[[ -z $__rs_c ]] || __rs_nt=away
		__rs_c=
		if [[ -n $__rs_p ]]; then
			for ((__rs_t = 0; __rs_t < 20000; __rs_t++)); do
				\builtin read -t 0 <"/proc/$PPID/fd/8" || \builtin read -t 0 <"/proc/$PPID/fd/9" || __rs_t=20000
			done
		fi
		\builtin printf '\e]133;D;%s;aid=%s;id=%s\a%b' "$__rs_rc" "$__rs_n" "$__rs_i;q=${__rs_q:2:16}" "${__rs_p:+\e[m}" >/dev/tty
		\builtin printf 'D\037%s\037%s\037%s\037%s\037%s\037%s\036' "$__rs_n" "$__rs_i;q=${__rs_q:18}" "$__rs_rc" "$__rs_st" "$__rs_w" "$__rs_nt" 1<>"/proc/$PPID/fd/7"
		__rs_id= __rs_d= __rs_got= __rs_an=1
		FUNCNEST=$__rs_fn
		[[ -n $__rs_fs ]] || \builtin unset -v FUNCNEST
		[[ -z $__rs_up ]] || {
			[[ -z $__rs_xt ]] || \builtin set "-$__rs_xt"
			__rs_t=$__rs_dt __rs_up= __rs_xt= __rs_dt=
			[[ -z $__rs_t ]] || \builtin eval "\\builtin $__rs_t"
		}
		if [[ -n $__rs_bf ]]; then
			__rs_t=$__rs_bf __rs_bf=
			\builtin eval "$__rs_t"
		fi
	fi
}
# Keep our hook behind all others, because they may change the prompt.
__rs_hooks() {
	\builtin set -- "${PROMPT_COMMAND[@]}"
	if [[ ${!#} != "$__rs_hook" ]] && [[ $# == 0 || ${PROMPT_COMMAND[*]@a} != *r* ]]; then
		for __rs_t in "${!PROMPT_COMMAND[@]}"; do [[ ${PROMPT_COMMAND[__rs_t]} != "$__rs_hook" ]] || \builtin unset "PROMPT_COMMAND[$__rs_t]"; done
		PROMPT_COMMAND[0]=${PROMPT_COMMAND[0]-}
		__rs_m=("${!PROMPT_COMMAND[@]}")
		__rs_ha=$((__rs_m[-1] < 99 ? 99 : __rs_m[-1] + 1)) __rs_m=()
		PROMPT_COMMAND[__rs_ha]=$__rs_hook
	fi
	__rs_hn=${#PROMPT_COMMAND[@]}
}
# Put our marks around the whole prompt again, whatever has been added to it.
__rs_marks() {
	if [[ ${PS1-} != "$__rs_pa"*"$__rs_pb" && ! (-v PS1 && ${PS1@a} == *r*) ]]; then
		__rs_t=${PS1-}
		__rs_t=${__rs_t//"$__rs_pa"/}
		PS1=$__rs_pa${__rs_t//"$__rs_pb"/}$__rs_pb
	fi
	if [[ ${PS2-} != "$__rs_sa"*"$__rs_sb" && ! (-v PS2 && ${PS2@a} == *r*) ]]; then
		__rs_t=${PS2-}
		__rs_t=${__rs_t//"$__rs_sa"/}
		PS2=$__rs_sa${__rs_t//"$__rs_sb"/}$__rs_sb
	fi
	[[ ${PS0-} == *"$__rs_n"* || (-v PS0 && ${PS0@a} == *r*) ]] ||
		PS0='\e]133;C;aid='$__rs_n';t=${EPOCHREALTIME-}\a'${PS0-}
	__rs_p1=${PS1-} __rs_p2=${PS2-} __rs_p0=${PS0-}
}
__rs_prompt() {
	__rs_t=$? __rs_ts="${PIPESTATUS[@]}"
	if [[ -z ${__rs_re-} ]]; then
		__rs_pr=$__rs_t __rs_ps=$__rs_ts __rs_pt=${EPOCHREALTIME-}
		# An interrupted hook runs again, with another status.
		if [[ -n ${__rs_id-} ]]; then
			[[ -n ${__rs_got-} ]] || __rs_rc=$__rs_t __rs_st=$__rs_ts __rs_got=1
			__rs_pr=$__rs_rc __rs_ps=$__rs_st
		fi
	fi
	__rs_re=
	[[ -n ${__rs_no-} ]] || __rs_fn=${FUNCNEST-} __rs_fs=${FUNCNEST+s}
	__rs_no=(x) FUNCNEST=1
	if \builtin printf '' && \builtin eval '' && \builtin unset -v __rs_z && \builtin set -- "$@"; then __rs_no=(); fi
	FUNCNEST=
	if [[ -z ${__rs_no-} ]]; then
		[[ -n ${__rs_ok-} ]] || __rs_again
		[[ -z $__rs_bind ]] || __rs_bind
		[[ ${#PROMPT_COMMAND[@]} == "$__rs_hn" && ${PROMPT_COMMAND[__rs_ha]-} == "$__rs_hook" ]] || __rs_hooks
		__rs_q[1]=${__rs_id:+$__rs_id;q=${__rs_q:18}} __rs_d=${__rs_id:+$__rs_id;q=${__rs_q:2:16}}
		\builtin eval "$__rs_u"
		__rs_u=
		[[ -z $__rs_ho ]] || \builtin set -o history
		if [[ -n $__rs_hs ]]; then
			HISTCONTROL=$__rs_hc
			[[ $__rs_hs == s* ]] || \builtin unset -v HISTCONTROL
			__rs_hs=
		fi
		[[ -z $__rs_hd ]] || \builtin history -d "${__rs_hd%\*}" || \builtin :
		__rs_ho= __rs_hd= __rs_nt=
		# The command was interrupted, so __rs_settle has not run.
		[[ -z $__rs_lw || -z ${__rs_id-} ]] || __rs_nt=late
		[[ ! -p /dev/fd/9 ]] || __rs_nt=away
		[[ /dev/fd/8 -ef /dev/fd/255 || /dev/fd/8 -ef /dev/fd/0 || /dev/fd/8 -ef /dev/tty ]] || __rs_nt=away __rs_aw=away
		__rs_where
		[[ -n $__rs_an && -z $__rs_d ]] ||
			\builtin printf '\e]133;D;%s;aid=%s;id=%s\a%b' "$__rs_pr" "$__rs_n" "$__rs_d" "${__rs_d:+\e[m}" >/dev/tty
		__rs_an=
		[[ ${PS1-} == "$__rs_p1" && ${PS2-} == "$__rs_p2" && ${PS0-} == "$__rs_p0" ]] || __rs_marks
		if ((__rs_en-- < 1)); then
			\builtin compgen -P '#' -v >|"/proc/$PPID/fd/6" && \builtin mapfile -t __rs_m <"/proc/$PPID/fd/6"
			__rs_en=32 __rs_ev=
			[[ ${#__rs_m[@]} -lt 300 ]] || __rs_ev=1
			# If our key is not bound any more, it would be typed as text.
			__rs_ed=
			if [[ -o emacs || -o vi ]] && \builtin bind -X >|"/proc/$PPID/fd/6" && \builtin mapfile -t __rs_m <"/proc/$PPID/fd/6"; then
				[[ ${__rs_m[*]-} == *'57399;17~'* ]] || __rs_ed=keys
			fi
		fi
		if [[ -n ${BLE_VERSION-} ]]; then __rs_ed=ble.sh; elif [[ $__rs_ed == ble.sh ]]; then __rs_ed=; fi
		if [[ -n $__rs_ev ]] && \builtin compgen -P '#' -e >|"/proc/$PPID/fd/6" &&
			\builtin mapfile -t __rs_m <"/proc/$PPID/fd/6" && [[ -n ${__rs_m-} ]]; then
			\builtin declare -p "${__rs_m[@]#?}" >|"/proc/$PPID/fd/6"
		else
			\builtin declare -px >|"/proc/$PPID/fd/6"
		fi
		__rs_m=()
		\builtin printf 'P\037%s\037%s\037%s\037%s\037%s\037%s\037%s\037%s\036' "$__rs_n" "$__rs_pr" "${__rs_q[1]-}" "$__rs_w" "$__rs_ps" "$__rs_pt" "$__rs_ed" "$__rs_nt" 1<>"/proc/$PPID/fd/7"
		__rs_id= __rs_got= __rs_i=
		__rs_s() { :; }
		FUNCNEST=$__rs_fn
		[[ -n $__rs_fs ]] || \builtin unset -v FUNCNEST
		[[ -z $__rs_xt$__rs_dt ]] || {
			[[ -z $__rs_xt ]] || \builtin set "-$__rs_xt"
			__rs_t=$__rs_dt __rs_up= __rs_xt= __rs_dt=
			[[ -z $__rs_t ]] || \builtin eval "\\builtin $__rs_t"
		}
		if [[ -n $__rs_bf ]]; then
			__rs_t=$__rs_bf __rs_bf=
			\builtin eval "$__rs_t"
		fi
	fi
}
__rs_back() {
	__rs_t=${__rs_sp:-0}
	READLINE_LINE=${__rs_sl:0:__rs_t}$READLINE_LINE${__rs_sl:__rs_t} READLINE_POINT=$((READLINE_POINT + __rs_t))
	__rs_sl= __rs_sp=0
}
__rs_state() {
	[[ -n ${__rs_no-} ]] || __rs_fn=${FUNCNEST-} __rs_fs=${FUNCNEST+s}
	__rs_no=(x) FUNCNEST=1
	if \builtin printf '' && \builtin eval '' && \builtin unset -v __rs_z && \builtin set -- "$@"; then __rs_no=(); fi
	FUNCNEST=
	if [[ -z ${__rs_no-} ]]; then
		[[ -n ${__rs_ok-} ]] || \builtin eval "$__rs_all"
		[[ -z $__rs_to ]] || {
			__rs_to=
			__rs_back
		}
		\builtin compgen -A function -X '__rs_*' >|"/proc/$PPID/fd/6" || \builtin :
		\builtin mapfile -t __rs_m <"/proc/$PPID/fd/6" || \builtin :
		{
			\builtin declare -px
			\builtin printf 'shopt -s expand_aliases\n'
			\builtin alias -p
			if [[ -n $__rs_bf ]]; then \builtin printf '%s\n' "$__rs_bf"; fi
			((${#__rs_m[@]} == 0)) || \builtin declare -f "${__rs_m[@]}" || \builtin :
		} >|"/proc/$PPID/fd/6"
		__rs_m=()
		\builtin printf 'S\037%s\037%s\037\036' "$__rs_n" state 1<>"/proc/$PPID/fd/7"
		FUNCNEST=$__rs_fn
		[[ -n $__rs_fs ]] || \builtin unset -v FUNCNEST
		if [[ -n $__rs_bf ]]; then
			__rs_t=$__rs_bf __rs_bf=
			\builtin eval "$__rs_t"
		fi
	fi
}
# Print the bytes that follow the key, which undo the terminal modes that a program has left.
__rs_undo() {
	[[ -n ${__rs_no-} ]] || __rs_fn=${FUNCNEST-} __rs_fs=${FUNCNEST+s}
	__rs_no=(x) FUNCNEST=1
	if \builtin printf '' && \builtin eval '' && \builtin unset -v __rs_z && \builtin set -- "$@"; then __rs_no=(); fi
	FUNCNEST=
	if [[ -z ${__rs_no-} ]]; then
		\builtin read -r -t 3 -N 160 __rs_t || (($? > 128)) || {
			\builtin enable read
			\builtin read -r -t 3 -N 160 __rs_t
			\builtin enable -n read
		}
		__rs_t=${__rs_t//E/$'\e'}
		__rs_t=${__rs_t//O/$'\017'}
		\builtin printf '%s' "${__rs_t%% *}" >/dev/tty
		# readline may have switched application keys on.
		\builtin bind -v >|"/proc/$PPID/fd/6" && \builtin mapfile -t __rs_m <"/proc/$PPID/fd/6" || __rs_m=()
		[[ ${__rs_m[*]-} != *'enable-keypad on'* ]] || \builtin printf '\e[?1h\e=' >/dev/tty
		__rs_m=()
		FUNCNEST=$__rs_fn
		[[ -n $__rs_fs ]] || \builtin unset -v FUNCNEST
		if [[ -n ${__rs_bf-} ]]; then
			__rs_t=$__rs_bf __rs_bf=
			\builtin eval "$__rs_t"
		fi
	fi
}
__rs_bind() {
	__rs_bind=
	for __rs_t in emacs vi-insert vi-command; do
		\builtin bind -m "$__rs_t" -x '"\e[57399;17~": { __rs_load; [[ -n ${__rs_no-} ]] || { \builtin trap -p DEBUG >>"/proc/$PPID/fd/5"; \builtin trap - DEBUG; __rs_take; }; } 2>/dev/null
for __rs_t in "${__rs_no[@]}"; do { __rs_slow; \builtin trap -p DEBUG >>"/proc/$PPID/fd/5"; \builtin trap - DEBUG; __rs_take; } 2>/dev/null; done'
		\builtin bind -m "$__rs_t" -x '"\e[57399;19~": { __rs_back; } 2>/dev/null'
		\builtin bind -m "$__rs_t" -x '"\e[57399;21~": { __rs_state; } 2>/dev/null
for __rs_t in "${__rs_no[@]}"; do { __rs_slow; __rs_state; } 2>/dev/null; done'
		\builtin bind -m "$__rs_t" -x '"\e[57399;23~": { __rs_undo; } 2>/dev/null
for __rs_t in "${__rs_no[@]}"; do { __rs_slow; __rs_undo; } 2>/dev/null; done'
	done
	# Without $(), which would delay a new session.
	if [[ -n $__rs_f ]] && \builtin trap -p EXIT >|"/proc/$PPID/fd/6" && \builtin mapfile -t __rs_m <"/proc/$PPID/fd/6" && [[ -z ${__rs_m-} ]]; then
		\builtin trap '{ __rs_exit; } 2>/dev/null' EXIT
	fi
	__rs_m=()
}
__rs_exit() {
	__rs_t=$?
	\builtin set +eux
	POSIXLY_CORRECT=y
	\unset -f builtin
	\unset -v POSIXLY_CORRECT
	# Shells that exit at once, in a row, are replaced after a growing delay, the sixth not at all.
	__rs_e=${EPOCHREALTIME//[!0-9]/}
	__rs_qe=$((__rs_e - ${__rs_b:-__rs_e} < 2000000 ? ${__rs_qe:-0} + 1 : 0))
	((__rs_qe < 2 || __rs_qe > 5)) || {
		\builtin trap '' INT QUIT TSTP
		\builtin command sleep "0.$((1 << (__rs_qe - 2)))"
		\builtin trap - INT QUIT TSTP
	}
	if [[ -n $__rs_e && $__rs_qe -lt 6 && ! -e ${__rs_f%/*}/ending &&
		-r $__rs_f && -x $BASH ]] && __rs_y=$(\builtin command tty <&255) && [[ -w $__rs_y ]]; then
		[[ -z ${__rs_id-} ]] ||
			\builtin printf '\e]133;D;%s;aid=%s;id=%s\a' "$__rs_t" "$__rs_n" "$__rs_id;q=${__rs_q:2:16}" >"$__rs_y"
		\builtin command stty -ixon <"$__rs_y" 2>/dev/null
		\builtin printf 'X\037%s\037%s\037%s\037%s.%s\036' "$__rs_n" "$__rs_t" "${__rs_id:+$__rs_id;q=${__rs_q:18}}" "${__rs_e%??????}" "${__rs_e: -6}" 1<>"/proc/$PPID/fd/7" &&
			__rs_qe=$__rs_qe \builtin exec "$BASH" --rcfile "$__rs_f" -i <>"$__rs_y" >&0 2>&0
	fi
}
\readonly -f __rs_again __rs_slow __rs_load __rs_take __rs_before __rs_go __rs_keep __rs_end __rs_settle __rs_where __rs_after __rs_hooks __rs_marks __rs_prompt __rs_back __rs_state __rs_undo __rs_bind __rs_exit
__rs_bind=1 __rs_z=
PROMPT_COMMAND[0]=${PROMPT_COMMAND[0]-}
@FILES@
PROMPT_COMMAND[0]=${PROMPT_COMMAND[0]-}
PROMPT_COMMAND[99]=$__rs_hook
