# Set-up for ./run and ./test. Source it in bash with $root set to the source tree. Prints to stderr only: stdout
# belongs to the server or to the tests.
# shellcheck shell=bash disable=SC2034 # the lists are for the scripts that source it

: "${root:?}"
NODE_MAJOR=18

RUN_PACKAGES=(
	gcc libc6-dev meson ninja-build pkg-config
	libuv1-dev libwebsockets-dev libwebsockets-evlib-uv libjansson-dev
	uthash-dev libssl-dev libjwt-dev libmagic-dev libarchive-dev libcurl4-openssl-dev libzstd-dev libnats-dev
)
TEST_PACKAGES=(
	libcriterion-dev clang libclang-rt-dev clang-format clang-tidy codespell shellcheck
	bubblewrap chromium-headless-shell fonts-dejavu-core procps openssl libvterm-dev less vim-tiny git python3 python3-ipython gdb tmux curl
	squashfs-tools squashfuse fuse-overlayfs fuse3 s3fs zsh fish vttest zstd make nats-server haproxy
)
ALL_PACKAGES=(mmdebstrap)

say() {
	printf '%s\n' "$*" >&2
}

die() {
	say "$(basename "$0"): $*"
	exit 1
}

# quietly COMMAND…: run it without input; print its output only if it fails.
quietly() {
	local log rc=0
	log=$(mktemp)
	"$@" </dev/null >"$log" 2>&1 || rc=$?
	if [ "$rc" -ne 0 ]; then
		cat "$log" >&2
	fi
	rm -f "$log"
	return "$rc"
}

# Lock the source tree, so that ./run and ./test never install or build at the same time.
setup_lock() {
	exec 9<"$root"
	if command -v flock >/dev/null && ! flock -n 9; then
		say "Waiting for another ./run or ./test to finish building."
		flock 9
	fi
}

setup_unlock() {
	exec 9<&-
}

node_is_usable() {
	local version
	command -v npm >/dev/null || return 1
	version=$(node --version 2>/dev/null) || return 1
	version=${version#v}
	[ "${version%%.*}" -ge "$NODE_MAJOR" ] 2>/dev/null
}

# Print the packages that are not installed, one a line.
missing_packages() {
	local installed package
	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null) || :
	for package; do
		case $'\n'$installed$'\n' in
		*$'\n'"$package installed"$'\n'*) ;;
		*) printf '%s\n' "$package" ;;
		esac
	done
}

# Print the command to become root (empty if we are root), or fail.
root_command() {
	if [ "$(id -u)" -eq 0 ]; then
		return 0
	elif ! command -v sudo >/dev/null; then
		return 1
	elif sudo -n true 2>/dev/null; then
		echo "sudo -n"
	elif [ -t 0 ] && [ -t 2 ]; then
		echo "sudo"
	else
		return 1
	fi
}

# explain_packages WHY PACKAGE…
explain_packages() {
	say "$1"
	shift
	say "
On Debian 12, as root:

    apt-get update
    apt-get install --no-install-recommends $*

On other distributions install their equivalents: a C17 compiler, meson, ninja,
pkg-config, Node.js $NODE_MAJOR or newer with npm, and the development files of libuv, libwebsockets
(with its libuv event library), jansson, uthash, OpenSSL, libjwt, libmagic, libarchive, libcurl, zstd and NATS; for ./test also
Criterion, clang with its sanitizers, clang-format, clang-tidy, codespell, shellcheck, tmux, zsh, fish, nats-server, haproxy and Chromium.
Then run this again with RINGSIDE_SKIP_PACKAGES=1 in the environment, which skips this check."
	exit 1
}

# install_packages BECOME PACKAGE…
install_packages() {
	local apt become=$1
	shift
	say "Installing $# Debian packages: $*"
	if [ "$become" = sudo ]; then
		sudo -v || die "sudo failed."
	fi
	# shellcheck disable=SC2206 # one word or two, or none
	apt=($become env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
	quietly "${apt[@]}" update || say "apt-get update failed: using the existing package lists."
	quietly "${apt[@]}" install -y --no-install-recommends "$@" || die "apt-get install failed."
}

# setup_packages PACKAGE…: install what is missing, Node.js included.
setup_packages() {
	local become missing wanted=("$@")
	if [ -z "${RINGSIDE_SKIP_PACKAGES:-}" ]; then
		node_is_usable || wanted+=(nodejs npm)
		if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
			explain_packages "Ringside installs what it needs with apt-get, which is not installed." \
				"${wanted[@]}"
		fi
		mapfile -t missing < <(missing_packages "${wanted[@]}")
		if [ ${#missing[@]} -gt 0 ]; then
			become=$(root_command) || explain_packages \
				"Packages are missing. Installing them requires root or sudo." "${missing[@]}"
			install_packages "$become" "${missing[@]}"
		fi
	fi
	if ! node_is_usable; then
		die "needs Node.js $NODE_MAJOR or newer, with npm. PATH has" \
			"$(command -v node || echo none) $(node --version 2>/dev/null || :)"
	fi
}

# setup_npm FOLDER: install the packages of its package-lock.json, unless the stamp shows that they are installed.
setup_npm() {
	local folder=$root/$1 sum stamp
	stamp=$folder/node_modules/.stamp
	sum=$(sha256sum <"$folder/package-lock.json")
	if [ -f "$stamp" ] && [ "$(<"$stamp")" = "$sum" ]; then
		return
	fi
	say "Installing the npm packages of $1/"
	(cd "$folder" && quietly npm ci --no-audit --no-fund) || die "npm ci in $1/ failed."
	printf '%s\n' "$sum" >"$stamp"
}

# Whether the folder is a build tree of these sources, which have not been moved or copied since.
tree_is_ours() {
	local tree=$root/$1
	[ -f "$tree/build.ninja" ] &&
		grep -qF "\"source\": \"$root\"" "$tree/meson-info/meson-info.json" 2>/dev/null
}

# setup_tree FOLDER KEY=VALUE…: configure a build tree, unless it already is.
setup_tree() {
	local tree=$root/$1 option changed=() options
	shift
	options=("${@/#/-D}")
	if tree_is_ours "${tree##*/}"; then
		for option; do
			grep -qxF "${option%%=*} = ${option#*=}" "$tree/meson-private/cmd_line.txt" ||
				changed+=("-D$option")
		done
		if [ ${#changed[@]} -gt 0 ]; then
			quietly meson configure "${changed[@]}" "$tree" || die "meson configure failed."
		fi
	elif [ -f "$tree/build.ninja" ]; then
		quietly meson setup --wipe "${options[@]}" "$tree" "$root" || die "meson setup failed."
	else
		quietly meson setup "${options[@]}" "$tree" "$root" || die "meson setup failed."
	fi
}

# build_tree FOLDER TARGET…: build the targets, or all.
build_tree() {
	local folder=$1
	shift
	if [ ! -f "$root/$folder/.ninja_log" ]; then
		say "Building $folder/ for the first time, which takes a minute or so."
	fi
	quietly ninja -C "$root/$folder" "$@" || die "the build in $folder/ failed."
}
