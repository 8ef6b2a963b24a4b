# Patterns that are nested at random, compiled and matched, and random expressions whose operators
# are comparisons of sorts and tied variables, so that each level is a call.
my ($n) = @ARGV;
my $state = 20161;
sub draw { $state = $state * 16807 % 2147483647; $state % $_[0] }

sub pattern {
    my ($depth) = @_;
    my $kind = $depth ? draw(9) : 0;
    my $one = sub { pattern($depth - 1) };
    return chr(97 + draw(4)) if $kind == 0;
    return '[' . chr(97 + draw(3)) . '-d]' if $kind == 1;
    return '(' . $one->() . '|' . $one->() . ')' if $kind == 2;
    return '(?:' . $one->() . $one->() . ')?' if $kind == 3;
    return '(?:' . $one->() . '){1,2}' if $kind == 4;
    return '(?=' . $one->() . ')' . $one->() if $kind == 5;
    return '(?!' . $one->() . ')' if $kind == 6;
    return '(?>' . $one->() . '|' . $one->() . '|' . $one->() . ')' if $kind == 7;
    return $one->() . $one->();
}

package Tied;
sub TIESCALAR { my ($class, $get) = @_; bless { get => $get, set => 0 }, $class }
sub FETCH { $_[0]{get}->() }
sub STORE { $_[0]{set} = $_[1] }
sub DESTROY { $_[0]{set} = 0 }
package main;

sub expression {
    my ($depth) = @_;
    my $kind = $depth ? draw(7) : 0;
    my @part = map { $depth ? expression($depth - 1) : undef } 1 .. 2;
    my ($p, $q) = @part;
    my $constant = draw(100);
    return sub { $constant } if $kind == 0;
    return sub { (sort { $p->() <=> $q->() || $a <=> $b } $constant, 3)[0] } if $kind == 1;
    return sub { tie my $x, 'Tied', $p; $x + $q->() } if $kind == 2;
    return sub { my $s = 0; $s += $_ for sort { $a + $p->() <=> $b + 1 } $q->(), 5; $s } if $kind == 3;
    return sub { tie my $x, 'Tied', $p; tie my $y, 'Tied', $q; "$x" . "$y" <=> $constant } if $kind == 4;
    return sub { tie my $x, 'Tied', sub { $p->() % 13 }; my @l = sort { $x <=> $a } $q->(), $constant; $l[0] }
        if $kind == 5;
    return sub { ($p->() - $q->()) % 1009 };
}

my ($matched, $sum, $length) = (0, 0, 0);
my $text = join '', map { chr(97 + draw(4)) } 1 .. 40;
for (1 .. $n) {
    my $pattern = pattern(7);
    my $compiled = eval { qr/$pattern/ } or next;
    $matched++ while $text =~ /$compiled./g;
    $length += length $pattern;
    $sum = ($sum * 31 + expression(4)->()) % 1000003;
}
print "$n $matched $sum $length\n";
