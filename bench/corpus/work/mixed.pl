# Words, numbers and comments of a text, by regular expressions, hashes and sorting. (miniperl has no
# modules.)

my ($path) = @ARGV;
open(my $file, '<', $path) or die "cannot open the text: $!";

my (%words, %shapes);
my ($comments, $calls, $numbers, $longest) = (0, 0, 0, '');
while (my $line = <$file>) {
    chomp $line;
    $comments++ while $line =~ m{/\*(?:[^*]|\*(?!/))*\*/}g;
    while ($line =~ /\b([A-Za-z_]\w*)\s*(\()?/g) {
        $words{lc $1}++;
        $calls++ if defined $2;
    }
    $numbers += length $1 while $line =~ /\b(0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)\b/g;
    (my $shape = $line) =~ s/\w+/w/g;
    $shape =~ tr/ \t//d;
    $shapes{$shape}++;
    $longest = $line if length $line > length $longest;
}
close($file);

my @common = sort { $words{$b} <=> $words{$a} || $a cmp $b } keys %words;
splice(@common, 20) if @common > 20;
printf "%-20s %d\n", $_, $words{$_} for @common;
printf "%d words, %d shapes, %d comments, %d calls, %d digits, longest line %d\n",
    scalar keys %words, scalar keys %shapes, $comments, $calls, $numbers, length $longest;
print join(' ', map { join '', reverse split //, $_ } @common), "\n";
eval { die { code => 7 } };
print "caught $@->{code}\n" if ref $@;
